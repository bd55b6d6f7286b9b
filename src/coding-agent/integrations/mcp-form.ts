// A form of an MCP server, put to the person field by field. What they leave is left out, and where they leave the form nothing is sent.
import { isObject, escapeInvisible, escapeInvisibleLine, type Json, type JsonObject } from '../../core/index.ts';
import type { Elicitation, ElicitationResult } from '../../tools/mcp/index.ts';
import type { UserPrompter } from './context.ts';

const maxFields = 20;
const maxAttempts = 3;
/** Said of what need not be answered. */
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

/** The person's answers to a form. */
export async function fillMcpForm(
  person: UserPrompter,
  form: FormElicitation,
  signal: AbortSignal,
): Promise<ElicitationResult> {
  const fields = parseFormFields(form.schema);
  const from = `The MCP server ${escapeInvisibleLine(form.server)} asks`;
  if (!person.askText || fields.length > maxFields) return { type: 'decline' };
  const asked = fields.map(({ title, required }) => `- ${title}${required ? '' : optionalHint}`);
  if (!(await person.confirm(`${from}: ${form.message}`, ['It is told what you answer:', ...asked].join('\n'), signal)))
    return { type: 'decline' };
  const content: Record<string, Json> = {};
  for (const field of fields) {
    const answer = await askFormField(person, field, `${from} for ${field.title}`, signal);
    if (answer === undefined) return { type: 'cancel' };
    if (answer.value !== undefined) content[field.name] = answer.value;
  }
  return { type: 'accept', content };
}

/** One field: asked again where the answer does not fit, and nothing where the person leaves it or it never does. */
async function askFormField(
  person: UserPrompter,
  field: FormField,
  question: string,
  signal: AbortSignal,
): Promise<{ readonly value?: Json } | undefined> {
  const { choices, required } = field;
  for (let tried = 0; tried < maxAttempts; tried++) {
    const labels = choices.map(({ label }) => label);
    const said = await person.askText?.(
      `${question}${required ? '' : optionalHint}`,
      field.schema['type'] === 'array' ? [] : labels,
      signal,
    );
    const text = said?.trim() ?? '';
    if (text === '') return required ? undefined : {};
    const value = parseFieldValue(field, text);
    if (value !== undefined) return { value };
    person.notify(`That is not what ${field.title} takes.`);
  }
  return undefined;
}

function parseFieldValue({ schema, choices }: FormField, text: string): Json | undefined {
  const chosen = (word: string): string | undefined =>
    choices.find(({ value, label }) => word === label || word === value)?.value;
  if (schema['type'] === 'boolean') return text === 'yes' ? true : text === 'no' ? false : undefined;
  if (schema['type'] === 'array') {
    const all = text.split(',').map((word) => chosen(word.trim()));
    return all.some((each) => each === undefined) ? undefined : (all as readonly string[]);
  }
  if (choices.length > 0) return chosen(text);
  if (schema['type'] !== 'number' && schema['type'] !== 'integer') return text;
  const number = Number(text);
  const fits = schema['type'] === 'integer' ? Number.isInteger(number) : Number.isFinite(number);
  return fits ? number : undefined;
}

function parseFormFields(schema: JsonObject): readonly FormField[] {
  const { properties, required } = schema;
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, each]) => {
    const own = isObject(each) ? each : {};
    const { title, description, default: usual } = own;
    const choices = parseFormChoices(own);
    const list = own['type'] === 'array' ? `, some of ${choices.map(({ label }) => label).join(', ')}` : '';
    const otherwise = usual === undefined ? '' : `; ${escapeInvisibleLine(JSON.stringify(usual))} unless you answer`;
    const about = typeof description === 'string' ? ` (${escapeInvisible(description).slice(0, 500)})` : '';
    return {
      name,
      title: `${escapeInvisibleLine(typeof title === 'string' ? title : name)}${about}${list}${otherwise}`,
      required: needed.includes(name),
      choices,
      schema: own,
    };
  });
}

/** What a field lets one choose from, in all the ways that the protocol has for it. */
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
