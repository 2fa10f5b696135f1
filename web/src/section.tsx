import type { ComponentChildren } from "preact";
import { unbroken } from "./format";

/** A section of the page with its heading, which the table of contents links to. */
export function Section(props: {
  id: string;
  title: string;
  lead?: string; // a sentence that introduces the section
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
