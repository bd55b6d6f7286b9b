// A form of an MCP server, put to the person field by field. What they leave is left out, and where they leave the form nothing is sent.
import { isObject, escapeInvisible, escapeInvisibleLine, type Json, type JsonObject } from '../../core/index.ts';
import type { Elicitation, ElicitationResult } from '../../tools/mcp/index.ts';
import type { Person } from './ground.ts';

const mostFields = 20;
const mostTries = 3;
/** Said of what need not be answered. */
const left = '; may be left out';

type Form = Elicitation & { readonly type: 'form' };
type Field = {
  readonly name: string;
  readonly title: string;
  readonly required: boolean;
  readonly choices: readonly Choice[];
  readonly schema: JsonObject;
};
type Choice = { readonly value: string; readonly label: string };

/** The person's answers to a form. */
export async function answerForm(person: Person, form: Form, signal: AbortSignal): Promise<ElicitationResult> {
  const fields = fieldsOf(form.schema);
  const from = `The MCP server ${escapeInvisibleLine(form.server)} asks`;
  if (!person.words || fields.length > mostFields) return { type: 'decline' };
  const asked = fields.map(({ title, required }) => `- ${title}${required ? '' : left}`);
  if (!(await person.agrees(`${from}: ${form.message}`, ['It is told what you answer:', ...asked].join('\n'), signal)))
    return { type: 'decline' };
  const content: Record<string, Json> = {};
  for (const field of fields) {
    const answer = await answerTo(person, field, `${from} for ${field.title}`, signal);
    if (answer === undefined) return { type: 'cancel' };
    if (answer.value !== undefined) content[field.name] = answer.value;
  }
  return { type: 'accept', content };
}

/** One field: asked again where the answer does not fit, and nothing where the person leaves it or it never does. */
async function answerTo(
  person: Person,
  field: Field,
  question: string,
  signal: AbortSignal,
): Promise<{ readonly value?: Json } | undefined> {
  const { choices, required } = field;
  for (let tried = 0; tried < mostTries; tried++) {
    const labels = choices.map(({ label }) => label);
    const said = await person.words?.(
      `${question}${required ? '' : left}`,
      field.schema['type'] === 'array' ? [] : labels,
      signal,
    );
    const text = said?.trim() ?? '';
    if (text === '') return required ? undefined : {};
    const value = valueOf(field, text);
    if (value !== undefined) return { value };
    person.say(`That is not what ${field.title} takes.`);
  }
  return undefined;
}

function valueOf({ schema, choices }: Field, text: string): Json | undefined {
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

function fieldsOf(schema: JsonObject): readonly Field[] {
  const { properties, required } = schema;
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, each]) => {
    const own = isObject(each) ? each : {};
    const { title, description, default: usual } = own;
    const choices = choicesOf(own);
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
function choicesOf(schema: JsonObject): readonly Choice[] {
  if (schema['type'] === 'boolean') return ['yes', 'no'].map((value) => ({ value, label: value }));
  const inner = isObject(schema['items']) ? schema['items'] : schema;
  const titled = [inner['oneOf'], inner['anyOf']].find(Array.isArray) ?? [];
  const plain = Array.isArray(inner['enum']) ? inner['enum'] : [];
  const names = Array.isArray(inner['enumNames']) ? inner['enumNames'] : [];
  return [
    ...titled.flatMap((each) =>
      isObject(each) && typeof each['const'] === 'string' ? [choice(each['const'], each['title'])] : [],
    ),
    ...plain.flatMap((value, i) => (typeof value === 'string' ? [choice(value, names[i])] : [])),
  ];
}

const choice = (value: string, title: unknown): Choice => ({
  value,
  label: escapeInvisibleLine(typeof title === 'string' ? title : value),
});
