import type { ComponentChildren } from "preact";
import { cite } from "./cite";

/** A table that scrolls horizontally in narrow windows, also with the keyboard. */
export function Table(props: { name: string; class?: string; children: ComponentChildren }) {
  return (
    <div class="scroll" role="region" aria-label={props.name} tabIndex={0}>
      <table class={props.class}>{props.children}</table>
    </div>
  );
}

/** A column of a list of the document: the key of a row's value, and its format. */
export interface Column<T> {
  title: string;
  key: keyof T & string;
  show?: (row: T) => string;
  number?: boolean; // right-aligned
}

/** A list of the document as a table, one row per entry; the first column is its name. */
export function ListTable<T>(props: {
  name: string;
  path: string;
  rows: T[];
  columns: Column<T>[];
}) {
  return (
    <Table name={props.name} class="list">
      <thead>
        <tr>
          {props.columns.map((column) => (
            <th scope="col" class={column.number ? "number" : ""}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map((row, r) => (
          <tr>
            {props.columns.map((column, c) => {
              const value = row[column.key];
              const Cell = c === 0 ? "th" : "td";
              return (
                <Cell
                  scope={c === 0 ? "row" : undefined}
                  class={column.number ? "number" : ""}
                  {...cite(`${props.path}.${r}.${column.key}`, value as string | number | boolean)}
                >
                  {column.show ? column.show(row) : String(value)}
                </Cell>
              );
            })}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** A list of names and values. */
export function Facts(props: {
  facts: { name: string; path: string; value: string | number | boolean; text: string }[];
}) {
  return (
    <dl class="facts">
      {props.facts.map((fact) => (
        <div>
          <dt>{fact.name}</dt>
          <dd {...cite(fact.path, fact.value)}>{fact.text}</dd>
        </div>
      ))}
    </dl>
  );
}
