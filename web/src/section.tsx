import type { ComponentChildren } from "preact";
import { unbroken } from "./format";

/** A part of the page with its heading, which the table of contents leads to. */
export function Section(props: {
  id: string;
  title: string;
  lead?: string; // what is to be seen, in a sentence
  children: ComponentChildren;
}) {
  const heading = `${props.id}-title`;
  return (
    <section id={props.id} aria-labelledby={heading}>
      <h2 id={heading}>{props.title}</h2>
      {props.lead && <p class="lead">{unbroken(props.lead)}</p>}
      {props.children}
    </section>
  );
}
