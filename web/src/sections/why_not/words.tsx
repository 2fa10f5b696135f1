import type { Point } from "../../document";
import { difference, memory, percent, seconds } from "../../format";
import { nameOf } from "./roles";

/** Returns the comparison with the page's plan. */
export function differenceOf(point: Point): string {
  return point.role === "this" ? "" : difference(point.difference, 1, percent);
}

export function pointSentence(point: Point): string {
  const against = point.role === "this" ? "" : `, ${differenceOf(point)} against this plan`;
  const fits = point.fits ? "" : ", does not fit";
  return (
    `${nameOf(point)}: ${point.brief}. Step ${seconds(point.step_seconds)}${against}; ` +
    `memory ${memory(point.memory_bytes)}${fits}. ${point.because}`
  );
}

/** The tooltip's content. */
export function PointWords({ point }: { point: Point }) {
  const against = differenceOf(point);
  return (
    <>
      <b>{nameOf(point)}</b>
      <div>{point.brief}</div>
      <table class="plain">
        <tbody>
          <tr>
            <td class="quiet">step</td>
            <td>
              {seconds(point.step_seconds)}
              {against && ` (${against})`}
            </td>
          </tr>
          <tr>
            <td class="quiet">memory</td>
            <td>
              {memory(point.memory_bytes)}
              {!point.fits && <b class="alarm"> does not fit</b>}
            </td>
          </tr>
          <tr>
            <td class="quiet">because</td>
            <td>{point.because}</td>
          </tr>
        </tbody>
      </table>
      {point.file && <div class="quiet">Click or Enter opens its file.</div>}
    </>
  );
}
