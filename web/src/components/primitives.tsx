// Small components that all screens share: errors, badges, times, titles, metrics, fields, tables.
import { cloneElement, type ComponentChildren, type JSX, type VNode } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import type { FleetRun, StopReason } from '../../../src/core/index.ts';
import { CopyButton } from './copy-button.tsx';
import { Icon } from './icon.tsx';
import type { IconName } from '../text/icon-shapes.ts';
import { pageTitle } from '../state/page-title.ts';
import { formatRelativeTime, formatDateTime } from '../text/format.ts';
import { splitInvisible } from '../text/escape-invisible.ts';
import { EscapedText } from './escaped-text.tsx';
import { formatRunStatus } from '../text/labels.ts';
import { announcement } from '../state/atom.ts';
import type { ApiError } from '../api/client.ts';
import { useNow } from '../hooks/use-poll.ts';

/** An error message of the server with its hint. */
export function ErrorMessage({ failed }: { readonly failed: ApiError | undefined }): JSX.Element | null {
  if (failed === undefined) return null;
  return (
    <p class="failed" role="alert">
      <EscapedText text={failed.message} />
      {failed.hint === undefined ? null : <span class="hint"> {failed.hint}</span>}
    </p>
  );
}

/** The status of a run, with a marker that does not depend on colour. */
export function StatusBadge({ run }: { readonly run: FleetRun }): JSX.Element {
  const { status, outcome, pendingApprovals: questions } = run;
  const isBad = isFailedRun(run);
  const isWaitingForChildren = status === 'waiting' && questions.length === 0;
  const isCancelled = outcome?.reason === 'cancelled' || outcome?.reason === 'kill-switch';
  return (
    <span class={`status ${isCancelled || isWaitingForChildren ? 'queued' : isBad ? 'bad' : status}`}>
      {formatRunStatus(run)}
    </span>
  );
}

/** Whether a run ended without what was asked for. */
export const isFailedRun = (run: FleetRun | undefined): boolean =>
  run?.outcome !== undefined && !successfulStopReasons.has(run.outcome.reason);

const successfulStopReasons: ReadonlySet<StopReason> = new Set(['answered', 'task-complete', 'abstained', 'cancelled']);

/** A relative time; the tooltip shows the exact time. */
export function RelativeTime({ time }: { readonly time: string | undefined }): JSX.Element | null {
  const now = useNow(10_000);
  if (time === undefined) return null;
  return (
    <time dateTime={time} title={formatDateTime(time)}>
      {formatRelativeTime(time, now)}
    </time>
  );
}

/** The heading of a screen, which is also the title of the tab. */
export function PageTitle({
  children,
  beside,
}: {
  readonly children: string;
  readonly beside?: ComponentChildren;
}): JSX.Element {
  useEffect(() => {
    const shown = splitInvisible(children).map(({ text }) => text);
    pageTitle.set(shown.join(''));
  }, [children]);
  return (
    <div class="title">
      <h1 tabIndex={-1} dir="auto">
        <EscapedText text={children} />
      </h1>
      {beside}
    </div>
  );
}

/** The id of a run or a session with a copy button. */
export function CopyableId({ of, name }: { readonly of: string; readonly name: string }): JSX.Element {
  return (
    <span class="name hint">
      {of} <code>{name}</code> <CopyButton text={name} what={`the id of this ${of.toLowerCase()}`} />
    </span>
  );
}

/** A metric with its name; `note` says what it is based on, and `href` leads to the runs behind it. */
export function Metric({
  name,
  value,
  note,
  href,
}: {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
  /** The list of what the metric counts. */
  readonly href?: string;
}): JSX.Element {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        <span class="value">
          {href === undefined ? (
            value
          ) : (
            <a href={href}>
              {value}
              <span class="unseen"> {name}</span>
            </a>
          )}
        </span>
        {note === undefined ? null : <span class="note">{note}</span>}
      </dd>
    </div>
  );
}

/** The placeholder of an empty list: what it shows and how to start. */
export function EmptyState({
  title,
  icon,
  children,
}: {
  readonly title: string;
  readonly icon?: IconName;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      {icon === undefined ? null : <Icon name={icon} size={20} />}
      <p class="empty-title">{title}</p>
      <div>{children}</div>
    </div>
  );
}

/** A form field with a label and a hint; the hint is a description, not part of the label. */
export function FormField({
  name,
  hint,
  children,
}: {
  readonly name: string;
  readonly hint?: string;
  readonly children: VNode<{ 'aria-describedby'?: string }>;
}): JSX.Element {
  const id = useId();
  const described = [hint === undefined ? [] : `${id}-hint`, children.props['aria-describedby'] ?? []].flat().join(' ');
  return (
    <div class="field">
      <label class="field-name" for={id}>
        {name}
      </label>
      {cloneElement(children, { id, ...(described === '' ? {} : { 'aria-describedby': described }) })}
      {hint === undefined ? null : (
        <span class="field-hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

/** A button for irreversible actions: it acts on the second press, and resets when it loses the focus. */
export function ConfirmButton({
  name,
  of,
  disabled,
  act,
}: {
  readonly name: string;
  readonly of: string;
  readonly disabled: boolean;
  readonly act: () => void;
}): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  return (
    <button
      type="button"
      class={isAsked ? 'danger' : 'quiet'}
      disabled={disabled}
      onBlur={() => setAsked(false)}
      onClick={() => {
        if (isAsked) return act();
        setAsked(true);
        announcement.set(`Press again to confirm: ${name} ${of}`);
      }}
    >
      {isAsked ? `Confirm: ${name}` : name}
      <span class="unseen"> {of}</span>
    </button>
  );
}

/** A table that scrolls horizontally, with a caption for screen readers. */
export function DataTable({
  caption,
  head,
  children,
}: {
  readonly caption: string;
  /** The column names; those that start with # contain numbers. */
  readonly head: readonly string[];
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table class="rows">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {head.map((each) => (
              <th key={each} scope="col" class={each.startsWith('#') ? 'number' : undefined}>
                {each.replace(/^#/, '')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
