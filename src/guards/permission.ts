// The gate of a person: reading is free unless it is of secrets, whatever changes something is asked about, with the exact call in the question.
import {
  hash53,
  isObject,
  isSecretFile,
  escapeInvisible,
  escapeInvisibleLine,
  type ToolCall,
  type Gate,
  type Tool,
} from '../core/index.ts';
import { kindOf, subjectOf, type Grants, type Locate } from './grants.ts';
import { remarksOn } from './hidden-text.ts';
import { obeyedIn } from './obeyed.ts';
import { whyUnrunnable } from './unrunnable.ts';

/** What a permission gate is made from. */
export type PermissionOptions = {
  /** `ask` asks before each call that changes something or reads a secret; `auto` lets all of them through but changes of what other programs obey. Read at every call. */
  readonly mode: () => 'ask' | 'auto';
  readonly granted: Grants;
  /** All tools that can be called, with their effects; a tool that is not here is asked about. */
  readonly tools: ReadonlyMap<string, Pick<Tool, 'effect' | 'clientSideQuestion'>>;
  readonly locate: Locate;
};

/** A gate that asks a person. */
export function permission({ mode, granted, tools, locate }: PermissionOptions): Gate {
  return (call) => {
    const wrong = whyUnrunnable(call);
    if (wrong !== undefined) return { type: 'deny', reason: wrong };
    const tool = tools.get(call.tool);
    // Whoever makes it decides about it, and has been given nothing but what an answer could say.
    if (tool?.clientSideQuestion !== undefined) return { type: 'allow' };
    const reads = tool?.effect === 'read';
    const obeyed = reads ? [] : obeyedIn(call, locate);
    if (mode() === 'auto' && obeyed.length === 0) return { type: 'allow' };
    if (reads && !namesSecret(call, locate)) return { type: 'allow' };
    if (granted.has(kindOf(call, locate))) return { type: 'allow' };
    const careful = obeyed.map((name) => `Careful: other programs run or obey ${name} without asking you.`);
    return { type: 'ask', question: [questionFor(call, locate), ...careful].join('\n') };
  };
}

/** Whether a call names a file of secrets, by its own name or by where that leads. */
function namesSecret({ input }: Pick<ToolCall, 'input'>, locate: Locate): boolean {
  const { path } = isObject(input) ? input : {};
  if (typeof path !== 'string') return false;
  try {
    return isSecretFile(path) || isSecretFile(locate(path));
  } catch {
    // It leads nowhere it may, so the tool itself will refuse.
    return false;
  }
}

const mostContent = 4000;

/** The exact call in words, with everything that does not show written out. A command is never shortened. */
export function questionFor(call: Pick<ToolCall, 'tool' | 'input'>, locate: Locate): string {
  return [exactly(call, locate), ...remarksOn(call)].join('\n');
}

function exactly(call: Pick<ToolCall, 'tool' | 'input'>, locate: Locate): string {
  if (call.tool === 'apply_patch') return patchIn(call, locate);
  const subject = subjectOf(call, locate);
  const {
    content,
    old_string: old,
    new_string: next,
    replace_all: all,
    background,
  } = isObject(call.input) ? call.input : {};
  if (subject.type === 'command')
    return `${call.tool}: ${escapeInvisible(subject.command)}${background === true ? '\n(It goes on in the background.)' : ''}`;
  if (subject.type === 'input') return `${call.tool} ${escapeInvisible(subject.input)}`;
  return [
    `${call.tool} ${escapeInvisibleLine(subject.path)}${all === true ? ', every match' : ''}`,
    ...marked('-', old),
    ...marked('+', content ?? next),
  ].join('\n');
}

/** A patch as a person reads it: where it leads, then its lines. */
function patchIn({ tool, input }: Pick<ToolCall, 'tool' | 'input'>, locate: Locate): string {
  const { paths, patch } = isObject(input) ? input : {};
  const places = (Array.isArray(paths) ? paths : [paths]).map((each) =>
    escapeInvisibleLine(placeOf(String(each), locate)),
  );
  return [`${tool} ${places.join(', ')}`, ...marked('', patch)].join('\n');
}

function placeOf(path: string, locate: Locate): string {
  try {
    return locate(path);
  } catch {
    // It leads nowhere it may, so the tool itself will refuse.
    return path;
  }
}

/** A text as lines of a diff; of a very long one both ends, what is between them in figures, and the digest of all of it, so that the question is of this text alone. */
function marked(sign: string, text: unknown): readonly string[] {
  if (typeof text !== 'string') return [];
  const lines = (part: string): readonly string[] => part.split('\n').map((line) => `${sign}${escapeInvisible(line)}`);
  const unseen = text.length - mostContent;
  if (unseen <= 0) return lines(text);
  const gap = `[… ${unseen} characters are not shown here, of ${text.length} characters in all, digest ${hash53(text).toString(36)} …]`;
  return [...lines(text.slice(0, mostContent / 2)), gap, ...lines(text.slice(-mostContent / 2))];
}
