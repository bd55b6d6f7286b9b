// Binds the paths of a call to the files that the gates decided about, so that a tool cannot reach another file through a path that became a link since.
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  FairleadError,
  escapeInvisibleLine,
  isObject,
  type Gate,
  type Tool,
  type ToolCall,
  type Workspace,
} from '../core/index.ts';

/** The real path of each path that a call names. */
type Pins = Map<string, string>;

/** The parts of an agent that share the pins of its calls. */
export type PathPins = {
  /** The workspace. While gates evaluate a call, each path is resolved once; while the call runs, its paths lead to the same files or are refused. */
  readonly workspace: Workspace;
  /** Keeps the real paths that a gate decided about. */
  wrapGate(gate: Gate): Gate;
  /** Runs a tool with the paths that the gates decided about. */
  wrapTool<T extends Tool>(tool: T): T;
};

/** A call that waits for the user keeps its pins; more than this many are calls that never ran. */
const maxCalls = 10_000;

/** Creates the pins of an agent that uses a workspace. */
export function createPathPins(workspace: Workspace): PathPins {
  const current = new AsyncLocalStorage<Pins>();
  const pinsByCall = new Map<string, Pins>();
  const locate = (given: string): string => {
    const pins = current.getStore();
    const found = pins?.get(given) ?? workspace.locate(given);
    pins?.set(given, found);
    return found;
  };
  const tryLocate = (given: string): void => {
    try {
      locate(given);
    } catch {
      // The tool refuses the path too.
    }
  };
  /** The file that a change of this path must reach; undefined if the call names no path. */
  const pinnedPath = (given: string): { readonly at?: string } => {
    const pins = current.getStore();
    if (pins === undefined || pins.size === 0) return {};
    const at = pins.get(given) ?? workspace.locate(given);
    if ([...pins.values()].includes(at)) return { at };
    throw new FairleadError(
      'workspace/changed',
      `${escapeInvisibleLine(given)} was not changed: it leads to another file than the one that was approved.`,
      { blame: 'model', hint: 'Name the file by its real path.' },
    );
  };
  return {
    workspace: {
      ...workspace,
      locate,
      read: (given, options) => {
        const at = current.getStore()?.get(given);
        return workspace.read(given, { ...options, ...(at === undefined ? {} : { at }) });
      },
      write: async (given, content, options) => workspace.write(given, content, { ...options, ...pinnedPath(given) }),
      ...(workspace.remove
        ? { remove: async (given, options) => workspace.remove?.(given, { ...options, ...pinnedPath(given) }) as never }
        : {}),
      restore: async (change, options) => workspace.restore(change, { ...options, ...pinnedPath(change.path) }),
    },
    wrapGate: (gate) => async (call, state) => {
      const pins: Pins = new Map();
      const decision = await current.run(pins, () => {
        for (const file of pathsOf(call)) tryLocate(file);
        return gate(call, state);
      });
      const key = keyOf(state.session, call.id);
      pinsByCall.delete(key);
      if (decision.type !== 'deny') pinsByCall.set(key, pins);
      const [oldest] = pinsByCall.keys();
      if (pinsByCall.size > maxCalls && oldest !== undefined) pinsByCall.delete(oldest);
      return decision;
    },
    wrapTool: (tool) => ({
      ...tool,
      execute: async (input, context) => {
        const key = keyOf(context.state.session, context.call.id);
        const pins = pinsByCall.get(key);
        pinsByCall.delete(key);
        return pins ? current.run(pins, () => tool.execute(input, context)) : tool.execute(input, context);
      },
    }),
  };
}

function pathsOf({ input }: ToolCall): readonly string[] {
  const { path, paths } = isObject(input) ? input : {};
  return [path, ...(Array.isArray(paths) ? paths : [])].filter((each) => typeof each === 'string');
}

const keyOf = (session: string, call: string): string => `${session} ${call}`;
