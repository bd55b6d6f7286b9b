// The events of a session in the order written: one line each, which opens to the event as JSON.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Event } from '../../../src/core/index.ts';
import { isObject } from '../text/call-summary.ts';
import { formatDateTime, formatTime } from '../text/format.ts';
import { LongText } from './code-view.tsx';
import { EscapedText } from './escaped-text.tsx';

const pageSize = 200;

/** The list, with the last events first to be rendered. */
export function EventList({ events }: { readonly events: readonly Event[] }): JSX.Element {
  const [most, setMost] = useState(pageSize);
  const earlier = Math.max(0, events.length - most);
  return (
    <section class="events" aria-label="Events">
      {earlier > 0 ? (
        <button type="button" class="quiet earlier" onClick={() => setMost(most + 5 * pageSize)}>
          Show {Math.min(earlier, 5 * pageSize)} of {earlier} earlier events
        </button>
      ) : null}
      <ol>
        {events.slice(earlier).map((event) => (
          <EventRow key={event.seq} event={event} />
        ))}
      </ol>
    </section>
  );
}

function EventRow({ event }: { readonly event: Event }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={(change) => setOpen(change.currentTarget.open)}>
        <summary>
          <span class="event-seq">{event.seq}</span>
          <code class="event-type">{event.type}</code>
          <span class="event-gist">
            <EscapedText text={summarizeEvent(event)} />
          </span>
          <time dateTime={event.time} title={formatDateTime(event.time)}>
            {formatTime(event.time, Date.now())}
          </time>
        </summary>
        {isOpen ? (
          <LongText text={JSON.stringify(event, undefined, 2)} label={`event ${event.seq}`} language="json" />
        ) : null}
      </details>
    </li>
  );
}

/** Returns the fields of an event that tell it apart. */
function summarizeEvent(event: Event): string {
  switch (event.type) {
    case 'input-received':
      return event.parts
        .flatMap((part) => (part.type === 'text' ? [part.text] : []))
        .join(' ')
        .slice(0, 120);
    case 'turn-started':
    case 'turn-ended':
      return `turn ${event.turn}`;
    case 'turn-failed':
      return event.error.message.slice(0, 120);
    case 'tool-started':
      return event.tool;
    case 'tool-ended':
      return `${event.outcome} ${event.text.replaceAll(/\s+/g, ' ').slice(0, 100)}`;
    case 'approval-requested':
      return event.question.slice(0, 120);
    case 'approval-resolved':
      return event.allowed ? 'allowed' : 'denied';
    case 'epoch-started':
      return `${event.reason}, ${event.model}`;
    case 'run-ended':
      return event.reason;
    case 'annotation-added':
      return isObject(event.value) && typeof event.value['warning'] === 'string'
        ? `${event.key}: ${event.value['warning']}`
        : event.key;
    case 'check-ended':
      return `${event.check}: ${event.verdict.type}`;
    case 'session-started':
    case 'branch-started':
    case 'compaction-failed':
    case 'run-started':
    case 'answer-rejected':
    default:
      return '';
  }
}
