// The facts of a session in one line: model, folder, turns, cost, tokens, and of a run also tenant, worker and times.
import type { JSX } from 'preact';
import type { FleetRun } from '../../../src/core/index.ts';
import { linkTo } from '../state/router.ts';
import type { TimelineItem, Timeline } from '../state/timeline.ts';
import { formatCompact, formatPercent, formatTime, formatUsd } from '../text/format.ts';
import { formatRunKind } from '../text/labels.ts';
import type { IconName } from '../text/icon-shapes.ts';
import { Icon } from './icon.tsx';

type TurnItem = Extract<TimelineItem, { type: 'turn' }>;

/** The facts; those that are not known yet are left out. */
export function SessionFacts({
  timeline,
  run,
}: {
  readonly timeline: Timeline;
  readonly run: FleetRun | undefined;
}): JSX.Element {
  const turns = timeline.items.filter((item): item is TurnItem => item.type === 'turn' && item.ms !== undefined);
  const sum = (read: (item: TurnItem) => number | undefined): number =>
    turns.reduce((all, turn) => all + (read(turn) ?? 0), 0);
  const calls = sum((turn) => turn.calls.length);
  const input = sum(({ usage }) => usage?.input);
  const output = sum(({ usage }) => usage?.output);
  const cached = sum(({ usage }) => usage?.cacheRead);
  const isPriced = turns.some(({ usd }) => usd !== undefined);
  const requested = run?.settings['model'];
  const model = timeline.model || (typeof requested === 'string' ? requested : '');
  const folder = timeline.folder ?? (typeof run?.settings['folder'] === 'string' ? run.settings['folder'] : '');
  return (
    <dl class="facts">
      <Fact icon="model" name="Model" value={model} />
      <Fact icon="folder" name="Folder" value={folder} />
      <Fact
        icon="refresh"
        name="Turns"
        value={
          turns.length === 0
            ? ''
            : `${turns.length === 1 ? '1 turn' : `${turns.length} turns`}, ${calls === 1 ? '1 call' : `${calls} calls`}`
        }
      />
      <Fact
        icon="budgets"
        name="Cost"
        value={turns.length === 0 ? '' : isPriced ? formatUsd(sum(({ usd }) => usd)) : 'cost unknown'}
      />
      <Fact
        icon="scorecard"
        name="Tokens"
        value={input + output === 0 ? '' : `${formatCompact(input)} in, ${formatCompact(output)} out`}
        note={cached > 0 && input > 0 ? `${formatPercent(Math.min(1, cached / input))} from the cache` : ''}
      />
      {run ? (
        <>
          <Fact icon="clock" name="Queued" value={formatTime(run.queued, Date.now())} />
          {run.kind === 'run' ? null : <Fact icon="fork" name="Kind" value={formatRunKind(run.kind)} />}
          <Fact
            icon="fleet"
            name="Worker"
            value={run.worker ?? ''}
            note={run.attempts > 1 ? `continued ${run.attempts - 1}×` : ''}
          />
          {run.tenant === 'default' ? null : (
            <Fact
              icon="user"
              name="Tenant"
              value={run.tenant}
              href={linkTo('runs', undefined, { tenant: run.tenant })}
            />
          )}
          {run.priority === 0 ? null : <Fact icon="send" name="Priority" value={`priority ${run.priority}`} />}
        </>
      ) : null}
    </dl>
  );
}

type FactProps = {
  readonly icon: IconName;
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  readonly href?: string;
};

function Fact({ icon, name, value, note = '', href }: FactProps): JSX.Element | null {
  if (value === '') return null;
  return (
    <div title={`${name}: ${value}${note === '' ? '' : ` (${note})`}`}>
      <dt>
        <Icon name={icon} size={14} />
        <span class="unseen">{name}</span>
      </dt>
      <dd>
        {href === undefined ? value : <a href={href}>{value}</a>}
        {note === '' ? null : <span class="hint"> {note}</span>}
      </dd>
    </div>
  );
}
