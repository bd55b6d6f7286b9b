// The gate of a person: reading is free, whatever changes something is asked about, with the exact call in the question.
import { digest, isObject, visible, visibleLine, type Call, type Gate, type Tool } from '../core/index.ts';
import { kindOf, subjectOf, type Grants, type Locate } from './grants.ts';

/** What a permission gate is made from. */
export type PermissionOptions = {
  /** `ask` asks before each call that changes something; `auto` lets all of them through. Read at every call. */
  readonly mode: () => 'ask' | 'auto';
  readonly granted: Grants;
  /** All tools that can be called, with their effects; a tool that is not here is asked about. */
  readonly tools: ReadonlyMap<string, Pick<Tool, 'effect'>>;
  readonly locate: Locate;
};

/** A gate that asks a person. */
export function permission({ mode, granted, tools, locate }: PermissionOptions): Gate {
  return (call) => {
    if (tools.get(call.tool)?.effect === 'read' || mode() === 'auto') return { type: 'allow' };
    if (granted.has(kindOf(call, locate))) return { type: 'allow' };
    return { type: 'ask', question: questionFor(call, locate) };
  };
}

const mostContent = 4000;

/** The exact call in words, with everything that does not show written out. A command is never shortened. */
export function questionFor(call: Pick<Call, 'tool' | 'input'>, locate: Locate): string {
  const subject = subjectOf(call, locate);
  if (subject.type === 'command') return `${call.tool}: ${visible(subject.command)}`;
  if (subject.type === 'input') return `${call.tool} ${visible(subject.input)}`;
  const fields = isObject(call.input) ? call.input : {};
  const body =
    typeof fields['content'] === 'string'
      ? marked('+', fields['content'])
      : `${marked('-', fields['old_string'])}\n${marked('+', fields['new_string'])}`;
  const every = fields['replace_all'] === true ? ', every match' : '';
  return `${call.tool} ${visibleLine(subject.path)}${every}\n${body}`;
}

/** A text as lines of a diff; of a very long one the beginning, its length and its digest, so that the question is of this text alone. */
function marked(sign: string, value: unknown): string {
  const text = typeof value === 'string' ? value : '';
  const shown = text
    .slice(0, mostContent)
    .split('\n')
    .map((line) => `${sign}${visible(line)}`)
    .join('\n');
  if (text.length <= mostContent) return shown;
  return `${shown}…\n[${text.length} characters in all, digest ${digest(text).toString(36)}]`;
}
