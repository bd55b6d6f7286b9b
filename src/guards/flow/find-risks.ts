// Finds what an injected text could do with the tools of an agent: which tools bring in such text, which hold private data, which are ways out, and what the flow policy stops.
import type { CollectedDeclaration } from './collect-declarations.ts';
import { controlRoles, type ToolDeclaration } from './types.ts';

/** A tool that can carry data out, with the parameters that the policy checks. */
export type WayOut = {
  readonly tool: string;
  /** Its control parameters: a value of a third party in one of them needs an approval. */
  readonly checked: readonly string[];
  /** Its content parameters, which can hold private data. */
  readonly unchecked: readonly string[];
};

/** What an injected text could do. */
export type FlowRisks = {
  /** Tools whose results have text of third parties. */
  readonly sources: readonly string[];
  /** Tools that return private data. */
  readonly private: readonly string[];
  readonly waysOut: readonly WayOut[];
  /** Tools that delete, transfer or change credentials. */
  readonly destructive: readonly string[];
  /** Whether text of third parties, private data and a way out are all there. */
  readonly isTrifecta: boolean;
};

/** Built-in tools that return what is in the files of the user. */
const localReaders: ReadonlySet<string> = new Set([
  'read_file',
  'grep',
  'git',
  'code_intelligence',
  'search_documents',
  'run_command',
  'read_mcp_resource',
]);
/** Built-in tools whose results are no text from outside: lists of the program itself. */
const ownLists: ReadonlySet<string> = new Set([
  'todo',
  'canvas_render',
  'load_tools',
  'search_tools',
  'handle_list',
  'list_mcp_servers',
  'stop_command',
  // The tool inside it is what acts.
  'use_tool',
]);
/** Roles of parameters that name what is contacted. */
const addressRoles: ReadonlySet<string> = new Set(['url', 'link', 'command']);

/** Finds the risks of these tools. A tool that nothing was written about counts as all three. */
export function findFlowRisks(collected: readonly CollectedDeclaration[]): FlowRisks {
  const known = collected.filter(({ tool }) => !ownLists.has(tool));
  const remote = new Set(
    known
      .filter(
        ({ tool, origin, declaration: { action } }) =>
          origin !== 'built-in' || action === 'visit' || tool === 'http_request',
      )
      .map(({ tool }) => tool),
  );
  const isRemote = (tool: string): boolean => remote.has(tool);
  const names = (test: (each: CollectedDeclaration) => boolean): readonly string[] =>
    known.filter(test).map(({ tool }) => tool);
  // Those that everyone can write come first.
  const sources = names(isSource).toSorted((a, b) => Number(isRemote(b)) - Number(isRemote(a)));
  const holders = names(isPrivate);
  const waysOut = known.filter(isWayOut).map(toWayOut);
  return {
    sources,
    private: holders,
    waysOut,
    destructive: names(({ declaration }) => declaration.destructive === true),
    isTrifecta: sources.length > 0 && holders.length > 0 && waysOut.length > 0,
  };
}

const isSource = ({ declaration: { output = 'untrusted' } }: CollectedDeclaration): boolean =>
  output === 'untrusted' ||
  (typeof output === 'object' && (output.trusted !== undefined || (output.untrusted?.length ?? 0) > 0));

const isPrivate = ({ tool, origin, declaration }: CollectedDeclaration): boolean =>
  declaration.private === true || localReaders.has(tool) || origin === 'automatic';

function isWayOut({ declaration: { effect, action, inputs = {} } }: CollectedDeclaration): boolean {
  if (effect === 'external') return true;
  return effect === 'write' && (action === 'visit' || Object.values(inputs).some((role) => addressRoles.has(role)));
}

function toWayOut({ tool, declaration: { inputs = {} } }: CollectedDeclaration): WayOut {
  const entries = Object.entries<NonNullable<ToolDeclaration['inputs']>[string]>(inputs);
  const isChecked = (role: string): boolean =>
    (controlRoles as readonly string[]).includes(role) || addressRoles.has(role);
  return {
    tool,
    checked: entries.flatMap(([name, role]) => (isChecked(role) ? name : [])),
    unchecked: entries.flatMap(([name, role]) => (role === 'body' || role === 'query' ? name : [])),
  };
}

const maxNamed = 12;

const list = (names: readonly string[]): string =>
  names.length > maxNamed
    ? `${names.slice(0, maxNamed).join(', ')} and ${names.length - maxNamed} more`
    : names.join(', ');

/** Formats the risks in sentences. `show` makes a name safe to print. */
export function formatFlowRisks(risks: FlowRisks, mode: string, show: (name: string) => string): readonly string[] {
  const { sources, private: holders, waysOut, destructive, isTrifecta } = risks;
  const open = waysOut.filter(({ checked }) => checked.length === 0);
  const guarded = waysOut.filter(({ checked }) => checked.length > 0);
  const named = (ways: readonly WayOut[]): string => list(ways.map(({ tool }) => show(tool)));
  const none = 'none';
  return [
    `Text of third parties comes in through: ${list(sources.map(show)) || none}.`,
    `Private data is returned by: ${list(holders.map(show)) || none}.`,
    `Data can leave through: ${named(waysOut) || none}.`,
    ...(destructive.length > 0 ? [`Something is deleted, paid or granted by: ${list(destructive.map(show))}.`] : []),
    ...(isTrifecta
      ? [
          `An instruction in a text of ${show(sources.find((each) => each !== holders[0]) ?? sources[0] ?? '')} could have the agent read private data with ${show(holders[0] ?? '')} and send it out with ${show(waysOut[0]?.tool ?? '')}: all three conditions of the lethal trifecta are met.`,
        ]
      : [
          'The three conditions of the lethal trifecta (text of third parties, private data, a way out) are not all met.',
        ]),
    ...(guarded.length > 0
      ? [
          `With the flow policy on: ${named(guarded)} ${guarded.length === 1 ? 'is' : 'are'} asked about if a text of a third party decides the target (${list([...new Set(guarded.flatMap(({ checked }) => checked))].map(show))}), or if you did not ask for it. Without a user it is denied.`,
        ]
      : []),
    ...(open.length > 0
      ? [
          `Also with the flow policy on: ${named(open)} ${open.length === 1 ? 'has' : 'have'} no target that the policy checks; what stands in ${list([...new Set(open.flatMap(({ unchecked }) => unchecked))].map(show)) || 'their input'} can leave without a question of the policy.`,
        ]
      : []),
    'With the flow policy off: only your permission rules and the sandbox stand between such a text and these tools.',
    mode === 'ask' || mode === 'deny'
      ? `The flow policy is on (${mode}).`
      : `The flow policy is ${mode === 'off' ? 'off' : 'observing only'}: \`config set flow ask\` turns it on.`,
  ];
}
