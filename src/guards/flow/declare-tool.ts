// Declares a tool for the flow policy from its name, its input schema and what is known of its effect, where no declaration was written for it.
import { isObject, type JsonObject, type ToolHints } from '../../core/index.ts';
import { applyLabels } from './apply-labels.ts';
import type { FlowEffect, ParameterRole, ToolDeclaration } from './types.ts';

/** What is known of a tool. */
export type DeclaredTool = {
  readonly name: string;
  readonly input: JsonObject;
  /** What a call does. Hints of a server that the user does not trust must not make it less. */
  readonly effect: 'read' | 'write' | 'external';
  /** What the origin of the tool says about it. It raises distrust and secrecy, and lowers them only if the user trusts the origin. */
  readonly hints?: ToolHints;
  /** The client runs the tool, and decides itself whether the user wants its effect; what it acts on is judged here. */
  readonly clientSideQuestion?: string;
};

/** Roles of parameters by the words of their name, the first that fits. */
const roleWords: readonly (readonly [role: ParameterRole, words: ReadonlySet<string>])[] = (
  [
    ['secret', 'password passwd passphrase secret token apikey credential credentials pin'],
    ['account', 'iban bic account card wallet payee beneficiary bank sortcode'],
    [
      'recipient',
      'to recipient recipients cc bcc email emails mail user users username member members participant participants attendee attendees invitee invitees assignee assignees reviewer reviewers channel channels chat phone number handle contact',
    ],
    [
      'url',
      'url uri urls uris link links href endpoint host hostname domain webhook callback redirect site server remote origin address proxy',
    ],
    [
      'path',
      'path paths file files filename filepath dir directory folder destination target source src dest output attachment attachments',
    ],
    ['command', 'code script javascript function command commands'],
    ['amount', 'amount price total sum cost fee value budget'],
    [
      'body',
      'body content contents text message html markdown description comment note notes summary details data payload snippet patch diff subject reason bio caption blocks children edits headers input',
    ],
    [
      'query',
      'query q search pattern patterns filter filters where keyword keywords term terms jql sql expression question prompt',
    ],
    [
      'time',
      'date time datetime start end since until before after when due deadline timestamp timezone duration day month year',
    ],
    [
      'flag',
      'limit offset page pages count size max min order sort sorts lang direction format type kind mode level state status visibility private public draft force recursive depth width height language locale unit units page_size per cursor timeout verbose dry',
    ],
    [
      'id',
      'id ids uuid key ref number sha hash branch tag owner repo repository project board issue ticket thread event order product item record row table database collection bucket zone region team organization org workspace space group label labels selector',
    ],
    ['title', 'title name names label heading topic'],
  ] as const
).map(([role, words]) => [role, new Set(words.split(' '))] as const);

/** The words of a name: `orderId` and `order_id` are `order` and `id`. */
const splitName = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

const placeWords = new Set('channel chat email phone'.split(' '));

/** The role of a parameter. Numbers, yes or no, and a choice from a list are flags, unless their name says that they are an amount. */
function roleOf(name: string, schema: unknown): ParameterRole {
  const words = splitName(name);
  const last = words.at(-1) ?? '';
  const { type, enum: choices } = isObject(schema) ? schema : {};
  // `channel_id` names where a message goes.
  const named =
    (last === 'id' && words.some((word) => placeWords.has(word)) ? 'recipient' : findRole([last])) ?? findRole(words);
  if (type === 'boolean' || Array.isArray(choices)) return 'flag';
  if (type === 'number' || type === 'integer')
    return named === 'amount' || named === 'account' || named === 'id' ? named : last === 'number' ? 'id' : 'flag';
  // A text whose meaning is not known may decide what the call acts on.
  return named ?? 'id';
}

const findRole = (words: readonly string[]): ParameterRole | undefined =>
  roleWords.find(([, known]) => words.some((word) => known.has(word)))?.[0];

const destructiveWords = new Set(
  'delete remove drop destroy purge wipe erase truncate transfer pay wire refund cancel revoke grant reset password unpublish archive merge deploy terminate kill uninstall overwrite close'.split(
    ' ',
  ),
);

/** Actions by the verb of a name of a tool. */
const actionVerbs: Readonly<Record<string, string>> = {
  message: 'send reply forward post notify email mail message comment publish share invite announce tweet dm',
  pay: 'pay transfer wire charge payout donate purchase',
  buy: 'buy order checkout book reserve',
  delete: 'delete remove drop destroy purge wipe erase truncate archive close',
  create: 'create add new insert make register schedule append',
  change: 'update edit modify set change rename move patch replace assign merge',
  upload: 'upload push sync import deploy release',
  visit: 'visit open browse navigate fetch crawl scrape click goto',
  run: 'run execute start trigger invoke call',
  login: 'login signin authenticate authorize connect',
};
const actionByVerb = new Map(
  Object.entries(actionVerbs).flatMap(([action, verbs]) => verbs.split(' ').map((verb) => [verb, action] as const)),
);

/** Names of parameters with an address that a call of a reading tool contacts: what the address holds leaves the machine. */
const addressWords = new Set('url uri urls uris href link links endpoint webhook callback'.split(' '));

/** Declares a tool. Its output is untrusted, unless the labels of a trusted server say otherwise. */
export function declareTool({ name, input, hints, ...tool }: DeclaredTool): ToolDeclaration {
  const isOfClient = tool.clientSideQuestion !== undefined;
  const effect: FlowEffect = isOfClient ? 'write' : tool.effect;
  const words = splitName(name.replace(/^.*__/, ''));
  const properties = isObject(input['properties']) ? input['properties'] : {};
  const isDestructive = isDestructiveTool(words, effect, hints);
  // The client asks its user whether its own tools run: without an action no words are needed.
  const action =
    isOfClient && !isDestructive
      ? undefined
      : words.map((word) => actionByVerb.get(word)).find((each) => each !== undefined);
  const isTrusted = hints?.isTrusted === true;
  const isClosed = isTrusted && hints.openWorld === false;
  const inputs = Object.entries(properties).map(([key, schema]) => [key, roleOf(key, schema)] as const);
  const isAddress = ([key, role]: readonly [string, ParameterRole]): boolean =>
    role === 'url' && splitName(key).some((word) => addressWords.has(word));
  const visits = effect === 'read' && !isClosed && inputs.some(isAddress);
  const { output, private: isPrivate } = applyLabels({ output: 'untrusted', trustsLabels: isTrusted }, hints?.labels);
  return {
    effect: visits ? 'write' : effect,
    ...(visits ? { action: 'visit' } : action === undefined ? {} : { action }),
    ...(isDestructive ? { destructive: true } : {}),
    inputs: Object.fromEntries(inputs.map((each) => (visits && isAddress(each) ? [each[0], 'link'] : each))),
    output,
    ...(isPrivate ? { private: true } : {}),
    ...(isTrusted ? { trustsLabels: true } : {}),
  };
}

/** Whether a tool deletes, transfers or changes credentials: by its name, or by a hint of its server. That it does not, only a trusted server can say. */
function isDestructiveTool(words: readonly string[], effect: FlowEffect, hints: ToolHints | undefined): boolean {
  if (effect === 'read') return false;
  if (hints?.destructive === true) return true;
  if (hints?.isTrusted === true && hints.destructive === false) return false;
  return words.some((word) => destructiveWords.has(word));
}
