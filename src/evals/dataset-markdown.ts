// Datasets of Markdown: a case with front matter, or several cases under headings with their expectations as YAML.
import { splitFrontmatter } from '../agent/index.ts';
import { errorMessage, isObject, yamlBoundError } from '../core/index.ts';
import { createCaseCollector, parseCaseObject, type CaseCollector, type EvalCase } from './dataset.ts';

const hint = 'A case is "## <id>", the prompt, and "### Expect" with lines such as "- contains: Canberra".';

const maxYamlChars = 100_000;

type Line = { readonly number: number; readonly text: string };
type Section = { readonly title: string; readonly line: number; readonly lines: readonly Line[] };

/** Parses the cases of a Markdown text; throws an error that names the line of the invalid case. */
export async function parseMarkdownDataset(text: string, name: string): Promise<readonly EvalCase[]> {
  const cases = createCaseCollector(name, text.length, hint);
  const whole = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const { yaml, body } = splitFrontmatter(whole);
  const first = whole.slice(0, whole.length - body.length).split('\n').length;
  const defaults = yaml === undefined ? {} : await parseFields(yaml, 2, cases);
  const lines = body.split('\n').map((each, i): Line => ({ number: first + i, text: each }));
  const [head, ...sections] = splitSections(lines, '## ');
  if (sections.length === 0) {
    const prompt = joinLines(head?.lines ?? []);
    cases.add(1, parseCaseObject({ id: getBaseName(name), prompt, ...defaults }));
    return cases.end();
  }
  for (const section of sections) cases.add(section.line, await parseSection(section, defaults, cases));
  return cases.end();
}

/** The name of a file without folders and ending. */
const getBaseName = (name: string): string => (name.split(/[/\\]/).at(-1) ?? name).replace(/\.[a-z]+$/i, '');

async function parseSection(
  { title, lines }: Section,
  defaults: Readonly<Record<string, unknown>>,
  cases: CaseCollector,
): Promise<EvalCase | string> {
  const [head, ...parts] = splitSections(lines, '### ');
  const value: Record<string, unknown> = { ...defaults, id: title, prompt: joinLines(head?.lines ?? []) };
  const files: Record<string, unknown> = isObject(defaults['files']) ? { ...defaults['files'] } : {};
  for (const part of parts) {
    const [word = '', ...rest] = part.title.split(' ');
    const kind = word.toLowerCase();
    if (kind === 'expect') value['expect'] = await parseFields(readBlock(part), part.line + 1, cases);
    else if (kind === 'settings') Object.assign(value, await parseFields(readBlock(part), part.line + 1, cases));
    else if (kind === 'file') files[rest.join(' ').trim().replace(/^`|`$/g, '')] = readBlock(part);
    else cases.refuse(part.line, `there is no part ${JSON.stringify(part.title)}; there are Expect, Settings and File`);
  }
  return parseCaseObject({ ...value, files });
}

/** Splits lines at headings; the first section is what precedes them. A heading inside a fenced block is text. */
function splitSections(lines: readonly Line[], mark: string): readonly Section[] {
  const sections: { title: string; line: number; lines: Line[] }[] = [{ title: '', line: 0, lines: [] }];
  let fence: string | undefined;
  for (const line of lines) {
    const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line.text)?.[1];
    const isFence = fence === undefined ? marks !== undefined : closesFence(line.text, fence);
    if (fence === undefined && !isFence && line.text.startsWith(mark)) {
      sections.push({ title: line.text.slice(mark.length).trim(), line: line.number, lines: [] });
      continue;
    }
    if (isFence) fence = fence === undefined ? marks : undefined;
    sections.at(-1)?.lines.push(line);
  }
  return sections;
}

const closesFence = (text: string, fence: string): boolean => {
  const trimmed = text.trim();
  return trimmed.length >= fence.length && trimmed === (fence[0] ?? '').repeat(trimmed.length);
};

const joinLines = (lines: readonly Line[]): string =>
  lines
    .map(({ text }) => text)
    .join('\n')
    .trim();

/** The content of the fenced block of a section, or its text without one. */
function readBlock({ lines }: Section): string {
  const open = lines.findIndex(({ text }) => /^ {0,3}(?:`{3,}|~{3,})/.test(text));
  if (open === -1) return joinLines(lines);
  const fence = /(`{3,}|~{3,})/.exec(lines[open]?.text ?? '')?.[1] ?? '```';
  const rest = lines.slice(open + 1);
  const end = rest.findIndex(({ text }) => closesFence(text, fence));
  const content = end === -1 ? rest : rest.slice(0, end);
  return content.map(({ text }) => `${text}\n`).join('');
}

/** Parses YAML: a map, or a list of maps that are joined. */
async function parseFields(
  yaml: string,
  line: number,
  cases: CaseCollector,
): Promise<Readonly<Record<string, unknown>>> {
  if (yaml.length > maxYamlChars) cases.refuse(line, `there are more than ${maxYamlChars} characters of YAML`);
  const exceeded = yamlBoundError(yaml);
  if (exceeded !== undefined) cases.refuse(line, `its YAML ${exceeded}`);
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    value = parse(yaml, { schema: 'core', maxAliasCount: 0, logLevel: 'error', prettyErrors: false });
  } catch (error) {
    return cases.refuse(line, `its YAML cannot be read (${errorMessage(error).split('\n')[0] ?? ''})`);
  }
  const list: readonly unknown[] = Array.isArray(value) ? value : [value ?? {}];
  if (!list.every(isObject)) return cases.refuse(line, 'its YAML is not a list of fields');
  const fields: Record<string, unknown> = {};
  for (const each of list)
    for (const [key, item] of Object.entries(each)) {
      if (Object.hasOwn(fields, key)) cases.refuse(line, `${JSON.stringify(key)} is there twice`);
      fields[key] = item;
    }
  return fields;
}
