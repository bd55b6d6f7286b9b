// A difference between a recorded session and its replay, and the comparison of facts and requests.
import {
  canonicalJson,
  messageText,
  toArray,
  toJson,
  type Fact,
  type Json,
  type Message,
  type ModelRequest,
} from '../../core/index.ts';
import type { DerivedFact } from './recording.ts';

/** One difference: the turn, what differs, and both sides as text; a side that is absent did not happen there. */
export type ReplayDifference = {
  readonly turn: number;
  /** Such as `request: system`, `answer`, `result of read_file` or `end of the run`. */
  readonly where: string;
  readonly recorded?: string;
  readonly replayed?: string;
};

/** Fields that name an event, measure its time or were reported by the provider: they are never the same twice, or are recorded values. */
const ignoredFields: ReadonlySet<string> = new Set([
  'seq',
  'id',
  'parent',
  'time',
  'ms',
  'overlappedMs',
  'key',
  'usage',
  'usd',
  'estimated',
  'model',
  'spent',
  'turn',
]);

/** The canonical JSON of a fact without ids and times; equal texts are the same fact. */
export function canonicalFact(fact: Fact): string {
  const kept = Object.entries(fact).filter(([key]) => !ignoredFields.has(key));
  return canonicalJson(toJson(Object.fromEntries(kept)));
}

/** What a fact is about, for the heading of a difference. */
export function nameFact(fact: DerivedFact, toolOf: (call: string) => string): string {
  switch (fact.type) {
    case 'turn-started':
      return 'input of the turn';
    case 'turn-ended':
      return 'answer';
    case 'turn-failed':
      return 'failure of the model';
    case 'answer-rejected':
      return 'rejection of the answer';
    case 'approval-requested':
      return `question about ${toolOf(fact.call)}`;
    case 'tool-started':
      return `call of ${fact.tool}`;
    case 'tool-ended':
      return `result of ${toolOf(fact.call)}`;
    case 'run-ended':
      return 'end of the run';
  }
}

/** A fact as text for a person: what the model said, called or read. */
export function formatFact(fact: DerivedFact): string {
  switch (fact.type) {
    case 'turn-started':
      return [`inputs: ${fact.inputs.length}`, ...fact.notes.map(({ key, text }) => `note ${key}: ${text}`)].join('\n');
    case 'turn-ended':
      return [formatMessage(fact.message), ...(fact.finishReason === 'stop' ? [] : [`(${fact.finishReason})`])]
        .filter(Boolean)
        .join('\n');
    case 'turn-failed':
      return `${fact.error.code}: ${fact.error.message}`;
    case 'answer-rejected':
      return `${fact.why}: ${fact.text}`;
    case 'approval-requested':
      return fact.question;
    case 'tool-started':
      return fact.input === undefined ? fact.tool : `${fact.tool} ${formatJson(fact.input)}`;
    case 'tool-ended':
      return fact.outcome === 'ok' ? fact.text : `${fact.outcome}: ${fact.text}`;
    case 'run-ended':
      return [fact.reason, ...(fact.detail === undefined ? [] : [fact.detail])].join(': ');
  }
}

/** A message as text: its text, and its calls with their input. */
export function formatMessage(message: Message): string {
  const calls = message.parts.flatMap((part) =>
    part.type === 'tool-call' ? [`${part.tool} ${formatJson(part.input)}`] : [],
  );
  return [messageText(message), ...calls].filter(Boolean).join('\n');
}

const formatJson = (value: Json): string => canonicalJson(value);

/** Returns where the request of now differs from that of then: the instructions, each tool, the tool choice, and each message. */
export function compareRequests(then: ModelRequest, now: ModelRequest): readonly Omit<ReplayDifference, 'turn'>[] {
  const found: Omit<ReplayDifference, 'turn'>[] = [];
  if (then.system !== now.system)
    found.push({ where: 'request: instructions', recorded: then.system, replayed: now.system });
  const [toolsThen, toolsNow] = [then, now].map(
    ({ tools }) => new Map(tools.map((tool) => [tool.name, formatTool(tool)])),
  );
  for (const name of new Set([...(toolsThen?.keys() ?? []), ...(toolsNow?.keys() ?? [])])) {
    const [recorded, replayed] = [toolsThen?.get(name), toolsNow?.get(name)];
    if (recorded !== replayed) found.push(withSides(`request: tool ${name}`, recorded, replayed));
  }
  const orders = [then, now].map(({ tools }) => tools.map(({ name }) => name).join(', '));
  if (found.every(({ where }) => !where.startsWith('request: tool')) && orders[0] !== orders[1])
    found.push(withSides('request: order of the tools', orders[0], orders[1]));
  const choices = [then.toolChoice, now.toolChoice].map((choice) => canonicalJson(toJson(choice)));
  if (choices[0] !== choices[1]) found.push(withSides('request: tool choice', choices[0], choices[1]));
  return [...found, ...compareMessages(toArray(then.messages), toArray(now.messages))];
}

const formatTool = ({ description, input }: ModelRequest['tools'][number]): string =>
  `${description}\n${canonicalJson(input)}`;

function compareMessages(then: readonly Message[], now: readonly Message[]): readonly Omit<ReplayDifference, 'turn'>[] {
  const found: Omit<ReplayDifference, 'turn'>[] = [];
  for (let i = 0; i < Math.max(then.length, now.length); i++) {
    const [a, b] = [then[i], now[i]];
    if (a === b) continue;
    const [recorded, replayed] = [a, b].map((message) => message && canonicalJson(toJson(message)));
    if (recorded !== replayed)
      found.push(withSides(`request: message ${i + 1}`, a && formatAnyMessage(a), b && formatAnyMessage(b)));
  }
  return found;
}

/** Messages with the same text can differ in other parts, which are then shown as JSON. */
const formatAnyMessage = (message: Message): string =>
  message.parts.every(({ type }) => type === 'text')
    ? `${message.role}: ${messageText(message)}`
    : `${message.role}: ${canonicalJson(toJson(message.parts))}`;

/** A difference whose sides may be absent. */
export const withSides = (
  where: string,
  recorded: string | undefined,
  replayed: string | undefined,
): Omit<ReplayDifference, 'turn'> => ({
  where,
  ...(recorded === undefined ? {} : { recorded }),
  ...(replayed === undefined ? {} : { replayed }),
});
