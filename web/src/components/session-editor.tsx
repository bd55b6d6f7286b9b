// Editor of the messages of a session: saving creates a new branch, and the old one is kept.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Message, MessagePart } from '../../../src/core/index.ts';
import { api } from '../api/client.ts';
import { Icon } from './icon.tsx';
import { ErrorMessage } from './primitives.tsx';
import { useSubmit } from '../hooks/use-poll.ts';

/** One text field per message; tool calls cannot be edited and stay with their message. */
export function SessionEditor({
  session,
  close,
}: {
  readonly session: string;
  readonly close: () => void;
}): JSX.Element {
  const [messages, setMessages] = useState<readonly Message[] | undefined>(undefined);
  const { busy, error, submit } = useSubmit();
  useEffect(() => submit(async () => setMessages((await api.messages(session)).messages)), [session, submit]);
  if (messages === undefined) return <ErrorMessage failed={error} />;
  const change = (at: number, message: Message): void => setMessages(messages.with(at, message));
  const save = (): void =>
    submit(async () => {
      await api.edit(session, messages);
      close();
    });
  return (
    <section class="editor" aria-label="Edit the session">
      <p class="hint">
        The session continues from the edited messages. The current messages stay in its log. No run is started.
      </p>
      {messages.map((message, i) => (
        <fieldset key={i}>
          <legend>
            {i + 1}. {roleLabels[message.role] ?? message.role}
          </legend>
          {message.parts.map((part, j) => (
            <PartEditor
              key={j}
              part={part}
              change={(next) => change(i, { ...message, parts: message.parts.with(j, next) })}
            />
          ))}
          <button type="button" class="quiet" onClick={() => setMessages(messages.slice(0, i))}>
            <Icon name="trash" size={14} /> Delete from here
          </button>
        </fieldset>
      ))}
      <ErrorMessage failed={error} />
      <div class="buttons">
        <button type="button" class="primary" disabled={busy} onClick={save}>
          Save as a new branch
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </section>
  );
}

const roleLabels: Readonly<Record<string, string>> = { user: 'you', assistant: 'model', tool: 'tool result' };

const readOnlyPartLabels: Readonly<Record<string, string>> = {
  reasoning: 'Reasoning (not editable)',
  file: 'File (not editable)',
};

function PartEditor({
  part,
  change,
}: {
  readonly part: MessagePart;
  readonly change: (part: MessagePart) => void;
}): JSX.Element {
  if (part.type === 'text' || part.type === 'tool-result')
    return (
      <textarea
        aria-label={part.type === 'text' ? 'Message text' : `Result of ${part.tool}`}
        dir="auto"
        rows={Math.min(12, part.text.split('\n').length + 1)}
        value={part.text}
        onInput={(event) => change({ ...part, text: event.currentTarget.value })}
      />
    );
  const words =
    part.type === 'tool-call'
      ? `calls ${part.tool} with ${JSON.stringify(part.input)}`
      : (readOnlyPartLabels[part.type] ?? part.type);
  return <p class="hint">{words}</p>;
}
