import { Copy } from "../copy";
import type { Command, Explain } from "../document";
import type { SectionProps } from "../focus";
import { count, flops, memory, plural, shortCount } from "../format";
import { Section } from "../section";
import { Facts, ListTable } from "../table";
import * as columns from "./worksheet_columns";
import "./worksheet.css";

/** All details of the plan, for reference. */
export function Worksheet({ plan, at }: SectionProps) {
  const explain = plan.explain;
  const path = `${at}.explain`;
  const memoryEstimate = explain.estimate.memory;
  return (
    <Section id="worksheet" title="Worksheet" lead="The numbers behind the figures above.">
      <details>
        <summary>All tables, the plan as a file, and the next commands</summary>
      <h3>Axes</h3>
      <ListTable name="Axes" path={`${path}.axes`} rows={explain.axes} columns={columns.axes} />
      <h3>Communication</h3>
      <ListTable
        name="Communication, call by call"
        path={`${path}.communication`}
        rows={explain.communication}
        columns={columns.communication}
      />
      <h3>States</h3>
      <ListTable
        name="States"
        path={`${path}.states`}
        rows={explain.states}
        columns={columns.states}
      />
      {memoryEstimate && (
        <>
          <h3>
            Memory of PP rank {memoryEstimate.pp_rank} {memoryEstimate.instant_words}
          </h3>
          <ListTable
            name="Memory entries"
            path={`${path}.estimate.memory.entries`}
            rows={memoryEstimate.entries}
            columns={columns.entries}
          />
        </>
      )}
      <div class="pair">
        <div>
          <h3>Model</h3>
          <Facts facts={modelFacts(explain.model, `${path}.model`)} />
        </div>
        <div>
          <h3>Job and plan</h3>
          <Facts
            facts={[
              ...recordFacts(explain.job, `${path}.job`),
              ...recordFacts(explain.plan, `${path}.plan`),
            ]}
          />
        </div>
      </div>
      <h3>Cluster</h3>
      <Facts facts={clusterFacts(explain.cluster, `${path}.cluster`)} />
      <ListTable
        name="Levels of the cluster"
        path={`${path}.cluster.levels`}
        rows={explain.cluster.levels}
        columns={columns.levels}
      />
      {explain.assumed.length > 0 && (
        <>
          <h3>{plural(explain.assumed.length, "value", "values")} left open</h3>
          <ListTable
            name="Assumed values"
            path={`${path}.assumed`}
            rows={explain.assumed}
            columns={columns.assumed}
          />
        </>
      )}
      <PlanFile name={plan.name} text={plan.file} />
      <Commands commands={plan.commands} />
      </details>
    </Section>
  );
}

function modelFacts(model: Explain["model"], path: string) {
  const name = model.reference ? `${model.name}, for want of a name` : model.name;
  return [
    { name: "model", path: `${path}.name`, value: model.name, text: name },
    { name: "layers", path: `${path}.layers`, value: model.layers, text: count(model.layers) },
    ...Object.entries(model.parameters).map(([part, n]) => ({
      name: part === "total" ? "parameters" : `parameters, ${spaced(part)}`,
      path: `${path}.parameters.${part}`,
      value: n,
      text: shortCount(n),
    })),
    ...Object.entries(model.training_flops_per_token).map(([convention, n]) => ({
      name: `training a token, ${spaced(convention)}`,
      path: `${path}.training_flops_per_token.${convention}`,
      value: n,
      text: flops(n),
    })),
  ];
}

function clusterFacts(cluster: Explain["cluster"], path: string) {
  return [
    { name: "cluster", path: `${path}.name`, value: cluster.name, text: cluster.name },
    { name: "device", path: `${path}.device`, value: cluster.device, text: cluster.device },
    {
      name: "devices",
      path: `${path}.devices`,
      value: cluster.devices,
      text: count(cluster.devices),
    },
    {
      name: "memory of a device",
      path: `${path}.memory_bytes`,
      value: cluster.memory_bytes,
      text: memory(cluster.memory_bytes),
    },
  ];
}

function recordFacts(record: Record<string, string | number | boolean>, path: string) {
  return Object.entries(record).map(([key, value]) => ({
    name: spaced(key),
    path: `${path}.${key}`,
    value,
    text: written(value),
  }));
}

function written(value: string | number | boolean): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return Number.isInteger(value) ? count(value) : shortCount(value);
  return value;
}

const spaced = (key: string) => key.replaceAll("_", " ");

function PlanFile({ name, text }: { name: string; text: string }) {
  return (
    <>
      <h3>The plan as a file</h3>
      <div class="file">
        <div class="title">
          <code>{name}</code> <Copy text={text} what="the plan" />
        </div>
        <pre tabIndex={0}>{text}</pre>
      </div>
    </>
  );
}

function Commands({ commands }: { commands: Command[] }) {
  if (commands.length === 0) return null;
  return (
    <>
      <h3>Commands</h3>
      <ul class="commands">
        {commands.map((command) => (
          <li>
            <div>{command.what}</div>
            <div class="line">
              <code tabIndex={0}>{command.command}</code>{" "}
              <Copy text={command.command} what={`the command: ${command.what}`} />
            </div>
            {command.remark && <div class="quiet">{command.remark}</div>}
          </li>
        ))}
      </ul>
    </>
  );
}
