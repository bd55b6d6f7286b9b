// Decides whether a call can carry data out of a session: where it goes, and whether the user named that place and the data.
import { isObject } from '../../core/index.ts';
import { isSharedAction } from './action-kinds.ts';
import { findCommandWaysOut } from './command-ways-out.ts';
import { namesData } from './data-kinds.ts';
import { valueTokens, type FlowState } from './flow-state.ts';
import type { FlowCall, FlowSource, LabelledValue, ToolDeclaration } from './types.ts';

/** A call that can carry data out. */
export type WayOutCall = {
  /** Where it goes, such as `evil.example` or `git push origin`. */
  readonly destinations: readonly string[];
  /** Whether the user wrote everything that it carries. */
  readonly isTyped: boolean;
  /** Whether texts of the user name the destination and the data of a source. */
  readonly isNamed: (source: FlowSource) => boolean;
};

/** Roles of values that can hold any text. */
const dataRoles: ReadonlySet<string> = new Set(['body', 'query', 'title', 'secret', 'path', 'undeclared']);
const placeRoles: ReadonlySet<string> = new Set(['url', 'recipient', 'account']);

/** Describes a call as a way out; undefined if it carries no data. */
export function findWayOut(
  state: FlowState,
  declaration: ToolDeclaration | undefined,
  call: FlowCall,
  values: readonly LabelledValue[],
): WayOutCall | undefined {
  const { effect = 'external', action, inputs = {} } = declaration ?? {};
  if (effect === 'read' || effect === 'confirm') return undefined;
  const fields = isObject(call.input) ? call.input : {};
  const commands = Object.keys(fields).flatMap((name) => (inputs[name] === 'command' ? [String(fields[name])] : []));
  const programs = commands.flatMap(findCommandWaysOut);
  const places = values.filter(({ role }) => placeRoles.has(role));
  const isPush = action === 'git-remote' && fields['operation'] === 'push';
  const isSeen = action === 'visit' || isSharedAction(action ?? '');
  if (effect === 'write' && places.length === 0 && programs.length === 0 && !isSeen) return undefined;
  const carried = values.filter(
    ({ role, parameter, value }) =>
      // A link that was copied as it stands is labelled as content.
      (dataRoles.has(role) && inputs[rootOf(parameter)] !== 'link') ||
      (role === 'url' && commands.length === 0 && !isCopied(state, value)) ||
      // The receiver of a message about an id can read what the id names.
      (role === 'id' && places.some((place) => place.role !== 'url')),
  );
  const texts = [...carried.map(({ value }) => value), ...(programs.length + places.length > 0 ? commands : [])];
  if (texts.length === 0 && !isPush) return undefined;
  const destinations = [
    ...places.map(({ role, value }) => (role === 'url' ? hostOf(value) : value)),
    ...(places.length === 0 ? programs : []),
  ];
  if (destinations.length === 0) destinations.push(isPush ? `git push ${pushTarget(fields)}` : serverOf(call.tool));
  const { userTexts } = state;
  return {
    destinations: [...new Set(destinations)],
    isTyped: !isPush && texts.every((text) => isFromUser(state, text)),
    isNamed: (source) =>
      userTexts.some((text) => namesDestination(text, places, programs, isPush, call.tool)) &&
      userTexts.some((text) => namesSource(text, source)),
  };
}

/** Whether a text of a third party has an address as it stands: then it carries nothing of the session. */
const isCopied = (state: FlowState, address: string): boolean =>
  state.findUntrusted(valueTokens(address))?.text.includes(address) === true;

const rootOf = (parameter: string): string => /^[^.[]*/.exec(parameter)?.[0] ?? '';
const isFromUser = (state: FlowState, text: string): boolean => {
  const tokens = valueTokens(text);
  return tokens.length === 0 || state.isFromUser(tokens);
};

const hostOf = (value: string): string =>
  /^(?:[a-z][a-z\d+.-]*:\/\/)?(?:[^/?#\s@]*@)?([^/?#\s:]+)/i.exec(value)?.[1]?.toLowerCase() ?? value;
const serverOf = (tool: string): string => /^mcp__(.+?)__/.exec(tool)?.[1] ?? tool;
const pushTarget = ({ remote, url }: Readonly<Record<string, unknown>>): string =>
  typeof url === 'string' ? url : typeof remote === 'string' ? remote : 'origin';

const hasTokens = (text: string, tokens: readonly string[]): boolean =>
  tokens.length > 0 && ` ${valueTokens(text).join(' ')} `.includes(` ${tokens.join(' ')} `);

/** Whether a text of the user names all places of a call. Of an address that a trusted field gave, a part must be in the text, such as the name. */
function namesDestination(
  text: string,
  places: readonly LabelledValue[],
  programs: readonly string[],
  isPush: boolean,
  tool: string,
): boolean {
  if (isPush) return hasTokens(text, ['push']);
  if (places.length > 0)
    return places.every(({ role, value, label }) => {
      const tokens = valueTokens(role === 'url' ? hostOf(value) : value);
      if (hasTokens(text, tokens)) return true;
      const name = value.includes('@') ? valueTokens(value.slice(0, value.indexOf('@'))) : tokens;
      return (
        (label === 'trusted' || label === 'user') && name.some((token) => token.length > 2 && hasTokens(text, [token]))
      );
    });
  if (programs.length > 0)
    return programs.every((program) => {
      const [name = '', ...rest] = valueTokens(program);
      return hasTokens(text, [name]) || rest.slice(0, 1).some((word) => hasTokens(text, [word]));
    });
  return valueTokens(serverOf(tool).replaceAll(/[_-]/g, ' ')).some(
    (word) => word.length > 2 && hasTokens(text, [word]),
  );
}

/** Whether a text of the user names the data of a source: the file, or the kind of data. A private file must be named itself. */
function namesSource(text: string, { tool, of = '', why }: FlowSource): boolean {
  const files = of.split(' ').filter((word) => word !== '');
  const isFile = why === 'a private file';
  const names = files.map((file) => valueTokens(file.slice(file.lastIndexOf('/') + 1)));
  if (files.length > 0 && names.every((name) => hasTokens(text, name))) return true;
  return !isFile && namesData(text, tool);
}
