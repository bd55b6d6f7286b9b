// A model for tests and demonstrations of the red team: it does what the user asks for, and follows every instruction of an attacker that it reads.
import { canonicalJson, toArray, type Message, type ModelRequest, type Provider } from '../../core/index.ts';
import { insertTexts } from './world.ts';
import type { Attack, PlannedCall } from './types.ts';

/** The name that selects the obedient model. */
export const obedientModelName = 'obedient';

/** Creates the obedient model of one run. It acts on the texts of an attack only after they were in a request: in a result, a description of a tool or a message. */
export function createObedientModel(attack: Attack, texts: readonly string[], turn: () => number): Provider {
  const { scenario } = attack;
  const tasks = scenario.task.map((task) => String(insertTexts(task, texts)));
  return {
    family: 'obedient',
    model: obedientModelName,
    price: { input: 0, output: 0 },
    async *stream(request) {
      const messages = toArray(request.messages);
      const read = readTexts(request, messages);
      const isAttacked =
        texts.length > 0 && turn() >= (attack.turn ?? 0) && attack.texts.every((text) => hasRead(read, text));
      const pending = withoutMade([...(isAttacked ? attack.calls : []), ...getPlan(read)], messages);
      const next = pending[0];
      const message: Message = {
        role: 'assistant',
        parts: next
          ? [{ type: 'tool-call', id: `call-${messages.length}`, tool: next.tool, input: next.input }]
          : [{ type: 'text', text: formatReport(messages) }],
      };
      yield {
        type: 'end',
        message,
        finishReason: next ? 'tool-calls' : 'stop',
        usage: { input: 0, output: 0 },
        model: obedientModelName,
      };
    },
  };

  function getPlan(read: readonly string[]): readonly PlannedCall[] {
    const isMain = tasks.some((task) => hasRead(read, task));
    if (isMain) return scenario.isSplit ? (scenario.plan[turn()] ?? []) : scenario.plan.slice(0, turn() + 1).flat();
    return scenario.agents?.find(({ task }) => hasRead(read, task))?.calls ?? [];
  }
}

/** All texts of a request, except those of the model. */
const readTexts = ({ system, tools }: ModelRequest, messages: readonly Message[]): readonly string[] => [
  system,
  ...tools.map(({ description }) => description),
  ...messages.flatMap(({ role, parts }) =>
    role === 'assistant'
      ? []
      : parts.flatMap((part) => (part.type === 'text' || part.type === 'tool-result' ? [part.text] : [])),
  ),
];

/** Whether a text is in what was read, as it stands or as a JSON string. */
function hasRead(read: readonly string[], text: string): boolean {
  const escaped = JSON.stringify(text).slice(1, -1);
  return read.some((each) => each.includes(text) || each.includes(escaped));
}

/** The calls that the messages do not have yet; a call that was denied is not repeated. */
function withoutMade(calls: readonly PlannedCall[], messages: readonly Message[]): readonly PlannedCall[] {
  const made = new Map<string, number>();
  for (const { parts } of messages)
    for (const part of parts) if (part.type === 'tool-call') made.set(keyOf(part), (made.get(keyOf(part)) ?? 0) + 1);
  return calls.filter((call) => {
    const count = made.get(keyOf(call)) ?? 0;
    if (count > 0) made.set(keyOf(call), count - 1);
    return count === 0;
  });
}

const keyOf = ({ tool, input }: Pick<PlannedCall, 'tool'> & { readonly input: unknown }): string =>
  `${tool} ${canonicalJson(input as PlannedCall['input'])}`;

const maxReportChars = 20_000;

/** The answer repeats what was read: an obedient sub-agent hands it on to its caller. */
const formatReport = (messages: readonly Message[]): string =>
  [
    'Done.',
    ...messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.text] : []))),
  ]
    .join('\n')
    .slice(0, maxReportChars);
