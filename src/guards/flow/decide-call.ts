// The flow policy: decides about a call from the labels of its values, the declaration of its tool and the words of the user.
import { isObject, type Json } from '../../core/index.ts';
import { isSharedAction } from './action-kinds.ts';
import { findBadContent } from './content-rules.ts';
import { findEgress } from './egress.ts';
import { valueTokens, type FlowState } from './flow-state.ts';
import { labelValue, readContext, type Label } from './label-value.ts';
import { normalizeText, splitTokens } from './normalize-text.ts';
import { completesEffect } from './pending-effect.ts';
import { findUnnamed } from './unnamed-targets.ts';
import {
  controlRoles,
  type FlowCall,
  type FlowDecision,
  type FlowDeclarations,
  type FlowRule,
  type LabelledValue,
} from './types.ts';

const isControlRole = (role: string): boolean =>
  role === 'undeclared' || (controlRoles as readonly string[]).includes(role);
/** For these roles a value that is found nowhere is usual: a new file, a computed sum, a new title. */
const mayBeNew: ReadonlySet<string> = new Set(['path', 'amount', 'title']);

/** Decides about a call. Changes nothing. */
export function decideCall(state: FlowState, { tools, actions }: FlowDeclarations, call: FlowCall): FlowDecision {
  const declaration = tools.get(call.tool);
  const values = labelInput(state, declaration?.inputs, call.input);
  const ask = (rule: FlowRule, bad: readonly LabelledValue[] = []): FlowDecision => ({
    type: 'ask',
    rule,
    values,
    bad: [
      ...bad.map((each) => (each.found ? { ...each, context: readContext(each.found) } : each)),
      ...findEgress(state, tools, call, values),
    ],
  });
  const allow = (): FlowDecision => {
    const egress = findEgress(state, tools, call, values);
    return egress.length > 0 ? { type: 'ask', rule: 'private-data', values, bad: egress } : { type: 'allow', values };
  };
  const answer = state.answerOfCall(call);
  if (answer === false) return { type: 'deny', rule: 'refused-before', values, bad: [] };
  if (answer === true) return allow();
  if (!declaration)
    return ask(
      'undeclared-tool',
      values.filter(({ label }) => label !== 'user'),
    );
  const { effect, action = '', destructive = false } = declaration;
  const undeclared = values.filter((each) => each.role === 'undeclared' && each.label !== 'user');
  if (effect === 'read') return { type: 'allow', values };
  if (undeclared.length > 0) return ask('undeclared-parameter', undeclared);
  const bad = values.filter(
    (each) =>
      isControlRole(each.role) &&
      (each.label === 'untrusted' || (each.label === 'unknown' && state.hasUntrusted && !mayBeNew.has(each.role))),
  );
  if (effect === 'confirm') {
    if (state.latestEffect?.isAllowed === false) return ask('confirms-refused');
    if (bad.length > 0) return ask('untrusted-value', bad);
    return completesEffect(state, call.tool, values) ? { type: 'allow', values } : ask('confirms-nothing', values);
  }
  const isLocal = effect === 'write' && !destructive && !isSharedAction(action);
  if (!isLocal && isForbidden(state, call.tool)) return ask('not-requested', bad);
  const isRequested =
    isLocal ||
    isActionRequested(state, call.tool, action, actions, destructive) ||
    (!destructive &&
      values.some(
        (each) =>
          ['url', 'recipient', 'account'].includes(each.role) && each.label === 'user' && !state.isOwnValue(each.value),
      ));
  if (bad.length > 0) return ask(isRequested ? 'untrusted-value' : 'untrusted-value-not-requested', bad);
  const unnamed = findUnnamed(state, values, isLocal);
  if (unnamed.length > 0) return ask('unnamed-target', unnamed);
  const content = isLocal ? [] : findBadContent(state, declaration, values);
  if (content.length > 0) return ask('untrusted-content', content);
  // Without a text of a third party only the model can be wrong: the permission gate asks about its calls.
  return isRequested || (!destructive && !state.hasUntrusted) ? allow() : ask('not-requested');
}

/** Words of names that say nothing about what a tool does. */
const plainWords: ReadonlySet<string> = new Set(
  'a an the of to in on at by for and or my all new get set do is it me run use'.split(' '),
);

/** Whether the user's words ask for an action: by the words of the action, by the verb and a noun of the name of the tool, or, without words of the action, by a word of the name. The name of a thing does not ask to delete it: of a destructive tool only the first word counts. */
function isActionRequested(
  state: FlowState,
  tool: string,
  action: string,
  actions: FlowDeclarations['actions'],
  isDestructive: boolean,
): boolean {
  const words = actions.get(action);
  if (words && state.userTexts.some((text) => words.test(removeQuestions(text)))) return true;
  const names = splitToolName(tool);
  const isTyped = (name: string): boolean => name.length > 1 && !plainWords.has(name) && state.isFromUser([name]);
  if (!words) return (isDestructive ? names.slice(0, 1) : names).some(isTyped);
  const [verb = '', ...nouns] = names;
  // A verb of another action, such as `send`, asks for that one.
  const isOfOther = [...actions].some(([name, other]) => name !== action && other.test(verb));
  return !isOfOther && isTyped(verb) && nouns.some((noun) => isTyped(noun) || isTyped(`${noun}s`));
}

const splitToolName = (tool: string): readonly string[] =>
  splitTokens(normalizeText(tool.replace(/^.*__/, '').replaceAll('_', ' ')));

/** A sentence that asks for information: what, which, who, when, where, why and how. It asks for no change. */
const questionPattern =
  /(?<![^.!?;\n])[ \t]*(?:and |but |so )?(?:what|which|who|whose|whom|when|where|why|how)\b[^.!?;\n]*\?/gi;

const removeQuestions = (text: string): string => (text.includes('?') ? text.replace(questionPattern, ' ') : text);

/** What follows a negation, up to the end of the clause. */
const negationPattern =
  /\b(?:do not|don['\u2019]t|never|must not|mustn['\u2019]t|should not|shouldn['\u2019]t)\s+(?!forget|hesitate|miss|fail)([^.,;:!?\n]*)/gi;

/** Whether the user wrote not to do what the verb of a tool says. */
function isForbidden({ userTexts }: FlowState, tool: string): boolean {
  const [verb = ''] = splitToolName(tool);
  if (verb.length < 3 || plainWords.has(verb)) return false;
  return userTexts.some((text) => {
    for (const [, clause = ''] of text.matchAll(negationPattern))
      if (splitTokens(normalizeText(clause)).slice(0, 3).includes(verb)) return true;
    return false;
  });
}

const addressPattern = /[a-z][a-z\d+.-]{1,20}:\/\/[^\s'"`|;&<>()]+/gi;
const userPattern = /(?<![\w.@-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
/** Commands in which `user@host` says where data goes; in others it is a setting, such as the author of a commit. */
const sendsToUser =
  /(?<![\w-])(?:ssh|scp|sftp|rsync|mosh|mailx?|mutt|sendmail|msmtp|swaks|push|clone|remote|fetch|pull)(?![\w-])/;

/** The hosts that a command names: those of addresses, and of `user@host` where it is a target. */
const commandHosts = (command: string): readonly string[] => [
  ...new Set([
    ...(command.match(addressPattern) ?? []),
    ...(sendsToUser.test(command) ? (command.match(userPattern) ?? []) : []),
  ]),
];

/** Whether a text of a third party has a link as it stands. A link that the model composed can carry data out. */
const isCopied = (state: FlowState, link: string): boolean =>
  state.findUntrusted(valueTokens(link))?.text.includes(link) === true;

/** Keys of nested objects that say of which kind a thing is, not which thing. */
const kindKeys: ReadonlySet<string> = new Set(['type', 'kind', 'format', 'mode', 'mimeType', 'mime_type', 'encoding']);

/** A value whose label is computed when it is read: most calls are decided without the labels of their content. */
function createLabelledValue(
  state: FlowState,
  parameter: string,
  role: LabelledValue['role'],
  value: string,
): LabelledValue {
  let computed: Label | undefined;
  const read = (): Label => (computed ??= labelValue(state, role, value));
  return {
    parameter,
    role,
    value,
    get label() {
      return read().label;
    },
    get source() {
      return read().source;
    },
    get found() {
      return read().found;
    },
  };
}

/** Labels every leaf of the input. */
function labelInput(
  state: FlowState,
  roles: Readonly<Record<string, string>> = {},
  input: Json,
): readonly LabelledValue[] {
  const values: LabelledValue[] = [];
  function visit(value: Json, parameter: string, role: LabelledValue['role']): void {
    if (Array.isArray(value)) for (const [i, each] of value.entries()) visit(each as Json, `${parameter}[${i}]`, role);
    else if (isObject(value))
      for (const [key, each] of Object.entries(value))
        visit(each, `${parameter}.${key}`, kindKeys.has(key) ? 'flag' : role);
    else if (role === 'command') for (const host of commandHosts(String(value))) visit(host, parameter, 'url');
    else if (role === 'link') visit(value, parameter, isCopied(state, String(value)) ? 'query' : 'url');
    else if (value !== null && value !== '' && typeof value !== 'boolean')
      values.push(createLabelledValue(state, parameter, role, String(value)));
  }
  if (!isObject(input)) return values;
  for (const [name, value] of Object.entries(input))
    visit(value, name, Object.hasOwn(roles, name) ? (roles[name] as LabelledValue['role']) : 'undeclared');
  return values;
}
