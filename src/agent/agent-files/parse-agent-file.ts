// Parses an agent file of any of the known formats into what it says, with the names of our tools.
import { escapeInvisibleLine } from '../../core/index.ts';
import { parseFrontmatter, textField } from '../project-files/frontmatter.ts';
import {
  formatFieldValue,
  isRefusal,
  isTrue,
  mapToolNames,
  parseToolList,
  readLimits,
  readSwitches,
  type AgentFields,
  type Refusal,
} from './read-fields.ts';
import type { AgentFileFormat } from '../project-files/agent-dirs.ts';
import type { AgentDefinition } from './types.ts';

const maxNameChars = 64;
const maxDescriptionChars = 4000;
const maxModelChars = 200;
const maxShownNames = 5;

/** The fields that a format knows: those that are used, and those that only change how an agent is shown. */
const knownFields: Readonly<Record<AgentFileFormat, readonly string[]>> = {
  claude:
    'name description tools disallowedTools model maxTurns limits permissionMode background isolation color'.split(' '),
  opencode: 'description mode model tools permission steps maxSteps limits disable disabled hidden color name'.split(
    ' ',
  ),
  github:
    'name description tools model limits disable-model-invocation user-invocable user-invokable target argument-hint'.split(
      ' ',
    ),
};

/** Parses the text of an agent file. `fileName` is the name of the file without its extension. */
export async function parseAgentFile(
  text: string,
  { format, fileName }: { readonly format: AgentFileFormat; readonly fileName: string },
): Promise<AgentDefinition | Refusal> {
  const front = await parseFrontmatter(text);
  if (isRefusal(front)) return front;
  const { fields } = front;
  const name = format === 'claude' ? textField(fields, 'name') : fileName;
  const description = textField(fields, 'description');
  const why = nameError(name) ?? descriptionError(description);
  if (why !== undefined) return { why };
  const instructions = front.body.trim();
  if (instructions === '') return { why: 'has no instructions after its frontmatter' };
  const tools = format === 'opencode' ? readOpenCodeTools(fields) : readListedTools(fields);
  if (isRefusal(tools)) return tools;
  const limits = readLimits(fields, format === 'opencode' ? ['steps', 'maxSteps'] : ['maxTurns']);
  if (isRefusal(limits)) return limits;
  const behaviour = readBehaviour(fields, format);
  if (isRefusal(behaviour)) return behaviour;
  const model = readModel(fields);
  if (isRefusal(model)) return model;
  const { notes, ...lists } = tools;
  const unused = Object.keys(fields).filter((field) => !knownFields[format].includes(field));
  return {
    name: name as string,
    description: description as string,
    instructions,
    ...lists,
    ...model,
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...behaviour,
    notes: [
      ...(unused.length > 0
        ? [
            `The ${unused.length === 1 ? 'field' : 'fields'} ${formatNames(unused)} ${unused.length === 1 ? 'is' : 'are'} not used.`,
          ]
        : []),
      ...notes,
      ...permissionNotes(fields),
    ],
  };
}

function nameError(name: string | undefined): string | undefined {
  if (name === undefined) return 'has no name in its frontmatter';
  if (name.length <= maxNameChars && /^[\p{L}\p{N}](?:[\p{L}\p{N}_.-]|\/(?=[\p{L}\p{N}]))*$/u.test(name))
    return undefined;
  return `has the name ${JSON.stringify(escapeInvisibleLine(name.slice(0, 80)))}: a name is at most ${maxNameChars} letters, digits, _, . and -`;
}

function descriptionError(description: string | undefined): string | undefined {
  if (description === undefined) return 'has no description in its frontmatter';
  if (description.length <= maxDescriptionChars) return undefined;
  return `has a description of ${description.length} characters: at most ${maxDescriptionChars}`;
}

type ToolLists = Pick<AgentDefinition, 'tools' | 'disallowedTools'> & { readonly notes: readonly string[] };

/** Without the field it has all tools; an empty field is a list without tools. */
function readListedTools(fields: AgentFields): ToolLists | Refusal {
  const [allowed, forbidden] = [fields['tools'], fields['disallowedTools']].map(parseToolList);
  if (!allowed) return { why: 'has tools that are not a list of names' };
  if (!forbidden) return { why: 'has disallowedTools that are not a list of names' };
  const isEvery = !('tools' in fields) || allowed.includes('*');
  const mapped = mapToolNames(isEvery ? [] : allowed, 'allow');
  if (isRefusal(mapped)) return mapped;
  const removed = mapToolNames(forbidden, 'forbid');
  if (isRefusal(removed)) return removed;
  return {
    ...(isEvery ? {} : { tools: mapped.names }),
    ...(removed.names.length > 0 ? { disallowedTools: removed.names } : {}),
    notes: [...mapped.notes, ...removed.notes],
  };
}

function readOpenCodeTools(fields: AgentFields): ToolLists | Refusal {
  const switches = readSwitches(fields);
  if (isRefusal(switches)) return switches;
  const removed = mapToolNames(switches.forbidden, 'forbid');
  if (isRefusal(removed)) return removed;
  const mapped = switches.allowed && mapToolNames(switches.allowed, 'allow');
  if (mapped && isRefusal(mapped)) return mapped;
  return {
    ...(mapped ? { tools: mapped.names } : {}),
    ...(removed.names.length > 0 ? { disallowedTools: removed.names } : {}),
    notes: [...(mapped?.notes ?? []), ...removed.notes],
  };
}

/** `inherit` is the model of the parent. A list names alternatives; the first one counts. */
function readModel({ model }: AgentFields): Pick<AgentDefinition, 'model'> | Refusal {
  const first: unknown = Array.isArray(model) ? model[0] : model;
  const name = typeof first === 'string' ? first.trim() : '';
  // Errors and questions show the name.
  if (name.length > maxModelChars || escapeInvisibleLine(name) !== name)
    return {
      why: `has model: ${formatFieldValue(name)}; a name of a model has at most ${maxModelChars} visible characters`,
    };
  return name === '' || name === 'inherit' ? {} : { model: name };
}

type Behaviour = Pick<AgentDefinition, 'readOnly' | 'background' | 'isolation' | 'disabled'>;

function readBehaviour(fields: AgentFields, format: AgentFileFormat): Behaviour | Refusal {
  const { permissionMode, background, isolation, mode } = fields;
  if (isolation !== undefined && isolation !== null && isolation !== 'worktree' && isolation !== 'none')
    return { why: `has isolation: ${formatFieldValue(isolation)}; there is worktree` };
  const isOff = isTrue(fields['disable']) || isTrue(fields['disabled']);
  const disabled = isOff
    ? 'its file disables it'
    : format === 'opencode' && mode === 'primary'
      ? 'its file says that it is a primary agent, which no other agent starts'
      : isTrue(fields['disable-model-invocation'])
        ? 'its file says that no model starts it'
        : undefined;
  return {
    ...(permissionMode === 'plan' ? { readOnly: true } : {}),
    ...(isTrue(background) ? { background: true } : {}),
    ...(isolation === 'worktree' ? { isolation } : {}),
    ...(disabled === undefined ? {} : { disabled }),
  };
}

/** A file cannot give a permission: what the user said in the session counts. */
function permissionNotes({ permissionMode }: AgentFields): readonly string[] {
  const isUsed = ['plan', 'default', undefined, null].includes(permissionMode as string);
  return isUsed ? [] : ['Its permissionMode is not used: an agent has the permission mode of its parent.'];
}

function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, maxShownNames).map((name) => escapeInvisibleLine(name.slice(0, 40)));
  return names.length > shown.length ? `${shown.join(', ')} and ${names.length - shown.length} more` : shown.join(', ');
}
