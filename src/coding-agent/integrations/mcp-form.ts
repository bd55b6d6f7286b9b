// Asks the user to fill in the form of an MCP server, field by field. Empty optional fields are left out; if the user cancels, nothing is sent.
import { isObject, escapeInvisible, escapeInvisibleLine, type Json, type JsonObject } from '../../core/index.ts';
import type { Elicitation, ElicitationResult } from '../../tools/mcp/index.ts';
import type { UserPrompter } from './context.ts';

const maxFields = 20;
const maxAttempts = 3;
/** Added to the question of an optional field. */
const optionalHint = '; may be left out';

type FormElicitation = Elicitation & { readonly type: 'form' };
type FormField = {
  readonly name: string;
  readonly title: string;
  readonly required: boolean;
  readonly choices: readonly FormChoice[];
  readonly schema: JsonObject;
};
type FormChoice = { readonly value: string; readonly label: string };

/** Asks for all fields of a form. */
export async function fillMcpForm(
  prompter: UserPrompter,
  form: FormElicitation,
  signal: AbortSignal,
): Promise<ElicitationResult> {
  const fields = parseFormFields(form.schema);
  const from = `The MCP server ${escapeInvisibleLine(form.server)} asks`;
  if (!prompter.askText || fields.length > maxFields) return { type: 'decline' };
  const labels = fields.map(({ title, required }) => `- ${title}${required ? '' : optionalHint}`);
  if (
    !(await prompter.confirm(
      `${from}: ${form.message}`,
      ['It receives your answers to:', ...labels].join('\n'),
      signal,
    ))
  )
    return { type: 'decline' };
  const content: Record<string, Json> = {};
  for (const field of fields) {
    const answer = await askFormField(prompter, field, `${from} for ${field.title}`, signal);
    if (answer === undefined) return { type: 'cancel' };
    if (answer.value !== undefined) content[field.name] = answer.value;
  }
  return { type: 'accept', content };
}

/** Asks for one field, again if the answer is invalid. Returns nothing if the user cancels or every attempt is invalid. */
async function askFormField(
  prompter: UserPrompter,
  field: FormField,
  question: string,
  signal: AbortSignal,
): Promise<{ readonly value?: Json } | undefined> {
  const { choices, required } = field;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const labels = choices.map(({ label }) => label);
    const answer = await prompter.askText?.(
      `${question}${required ? '' : optionalHint}`,
      field.schema['type'] === 'array' ? [] : labels,
      signal,
    );
    const text = answer?.trim() ?? '';
    if (text === '') return required ? undefined : {};
    const value = parseFieldValue(field, text);
    if (value !== undefined) return { value };
    prompter.notify(`That is not what ${field.title} takes.`);
  }
  return undefined;
}

function parseFieldValue({ schema, choices }: FormField, text: string): Json | undefined {
  const findChoice = (text: string): string | undefined =>
    choices.find(({ value, label }) => text === label || text === value)?.value;
  if (schema['type'] === 'boolean') return text === 'yes' ? true : text === 'no' ? false : undefined;
  if (schema['type'] === 'array') {
    const all = text.split(',').map((each) => findChoice(each.trim()));
    return all.some((each) => each === undefined) ? undefined : (all as readonly string[]);
  }
  if (choices.length > 0) return findChoice(text);
  if (schema['type'] !== 'number' && schema['type'] !== 'integer') return text;
  const number = Number(text);
  const fits = schema['type'] === 'integer' ? Number.isInteger(number) : Number.isFinite(number);
  return fits ? number : undefined;
}

function parseFormFields(schema: JsonObject): readonly FormField[] {
  const { properties, required } = schema;
  const requiredNames = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, each]) => {
    const own = isObject(each) ? each : {};
    const { title, description, default: defaultValue } = own;
    const choices = parseFormChoices(own);
    const list = own['type'] === 'array' ? `, some of ${choices.map(({ label }) => label).join(', ')}` : '';
    const fallback =
      defaultValue === undefined ? '' : `; ${escapeInvisibleLine(JSON.stringify(defaultValue))} unless you answer`;
    const details = typeof description === 'string' ? ` (${escapeInvisible(description).slice(0, 500)})` : '';
    return {
      name,
      title: `${escapeInvisibleLine(typeof title === 'string' ? title : name)}${details}${list}${fallback}`,
      required: requiredNames.includes(name),
      choices,
      schema: own,
    };
  });
}

/** The choices of a field, in each form that the protocol has for them. */
function parseFormChoices(schema: JsonObject): readonly FormChoice[] {
  if (schema['type'] === 'boolean') return ['yes', 'no'].map((value) => ({ value, label: value }));
  const inner = isObject(schema['items']) ? schema['items'] : schema;
  const titled = [inner['oneOf'], inner['anyOf']].find(Array.isArray) ?? [];
  const plain = Array.isArray(inner['enum']) ? inner['enum'] : [];
  const names = Array.isArray(inner['enumNames']) ? inner['enumNames'] : [];
  return [
    ...titled.flatMap((each) =>
      isObject(each) && typeof each['const'] === 'string' ? [toFormChoice(each['const'], each['title'])] : [],
    ),
    ...plain.flatMap((value, i) => (typeof value === 'string' ? [toFormChoice(value, names[i])] : [])),
  ];
}

const toFormChoice = (value: string, title: unknown): FormChoice => ({
  value,
  label: escapeInvisibleLine(typeof title === 'string' ? title : value),
});
