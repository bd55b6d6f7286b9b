// The request of a turn as the model got it: instructions, tools and messages, and the whole as JSON.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Message } from '../../../src/core/index.ts';
import { api } from '../api/client.ts';
import type { TurnRequest } from '../api/types.ts';
import { useSubmit } from '../hooks/use-poll.ts';
import { formatCompact, formatCount } from '../text/format.ts';
import { LongText } from './code-view.tsx';
import { CopyButton } from './copy-button.tsx';
import { ErrorMessage } from './primitives.tsx';

/** Where the session of a request is. */
export type RequestSource = { readonly source: 'server' | 'terminal'; readonly session: string };

/** Loads and shows the request of a turn. */
export function RequestView({
  source: { source, session },
  turn,
}: {
  readonly source: RequestSource;
  readonly turn: number;
}): JSX.Element {
  const [request, setRequest] = useState<TurnRequest | undefined>(undefined);
  const { error, submit } = useSubmit();
  useEffect(
    () => submit(async () => setRequest(await api.turnRequest(source, session, turn))),
    [source, session, turn, submit],
  );
  if (!request) return error ? <ErrorMessage failed={error} /> : <p class="hint request">Loading the request</p>;
  const json = JSON.stringify(request, undefined, 2);
  return (
    <section class="request" aria-label={`Request of turn ${turn}`}>
      <p class="request-head">
        <strong>Request as sent</strong>
        <span class="hint">
          {request.model} · {formatCount(request.messages.length)} messages · {formatCount(request.tools.length)} tools
          · {formatCompact(json.length)} characters
        </span>
        <CopyButton text={json} what="the request as JSON" />
      </p>
      <details>
        <summary>Instructions</summary>
        <LongText text={request.system} label="the instructions" />
      </details>
      <details>
        <summary>Tools</summary>
        {request.tools.map((tool) => (
          <details key={tool.name} class="request-tool">
            <summary>
              <code>{tool.name}</code> <span class="hint">{tool.description?.split('\n', 1)[0]?.slice(0, 140)}</span>
            </summary>
            <LongText text={JSON.stringify(tool, undefined, 2)} label={`the tool ${tool.name}`} language="json" />
          </details>
        ))}
      </details>
      <details open>
        <summary>Messages</summary>
        {request.messages.map((message, i) => (
          <RequestMessage key={i} message={message} isOpen={i === request.messages.length - 1} />
        ))}
      </details>
      <details>
        <summary>JSON</summary>
        <LongText text={json} label="the request as JSON" language="json" />
      </details>
    </section>
  );
}

const roleLabels: Readonly<Record<string, string>> = { user: 'user', assistant: 'model', tool: 'tool result' };

function RequestMessage({ message, isOpen }: { readonly message: Message; readonly isOpen: boolean }): JSX.Element {
  const text = message.parts
    .map((part) =>
      'text' in part ? part.text : part.type === 'tool-call' ? `${part.tool} ${JSON.stringify(part.input)}` : part.type,
    )
    .join('\n');
  return (
    <details class="request-message" open={isOpen}>
      <summary>
        <span class="role">{roleLabels[message.role] ?? message.role}</span>{' '}
        <span class="hint">{text.replaceAll(/\s+/g, ' ').slice(0, 140)}</span>
      </summary>
      <LongText text={text} label={`this message of the ${message.role}`} />
    </details>
  );
}
