import { useEffect, useRef } from "preact/hooks";
import { cite } from "../../cite";
import { Copy } from "../../copy";
import type { Point } from "../../document";
import { memory, memoryOf, seconds } from "../../format";
import { nameOf } from "./roles";
import { differenceOf } from "./words";

/** The details of an alternative plan: its cost, the reasons, and its file. */
export function Opened(props: {
  point: Point;
  path: string; // in the document
  plan: string; // the name of the plan that the page is about
  capacity: number;
  close: () => void;
}) {
  const { point, path, capacity } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  const command = `rankwright compare ${props.plan} other.yaml`;
  return (
    <dialog
      ref={dialog}
      class="opened"
      aria-labelledby="opened-title"
      onClose={props.close}
      onClick={(e) => e.target === e.currentTarget && dialog.current!.close()}
    >
      <div>
        <form method="dialog">
          <h3 id="opened-title">{nameOf(point)}</h3>
          <button aria-label="Close">Close</button>
        </form>
        <p class="brief">{point.brief}</p>
        <dl>
          <div>
            <dt>step</dt>
            <dd {...cite(`${path}.step_seconds`, point.step_seconds)}>
              {seconds(point.step_seconds)}
            </dd>
          </div>
          {point.role !== "this" && (
            <div>
              <dt>against this plan</dt>
              <dd {...cite(`${path}.difference`, point.difference)}>{differenceOf(point)}</dd>
            </div>
          )}
          <div>
            <dt>memory</dt>
            <dd {...cite(`${path}.memory_bytes`, point.memory_bytes)}>
              {capacity > 0 ? memoryOf(point.memory_bytes, capacity) : memory(point.memory_bytes)}
              {!point.fits && <b class="alarm"> does not fit</b>}
            </dd>
          </div>
          <div>
            <dt>because</dt>
            <dd>{point.because}</dd>
          </div>
        </dl>
        <div class="file">
          <div class="title">
            <span>as a file</span>
            <Copy text={point.file} what="the plan" />
          </div>
          <pre tabIndex={0}>{point.file}</pre>
        </div>
        {point.role !== "this" && (
          <p class="hint">
            Saved as other.yaml: <code>{command}</code> <Copy text={command} what="the command" />
          </p>
        )}
      </div>
    </dialog>
  );
}
