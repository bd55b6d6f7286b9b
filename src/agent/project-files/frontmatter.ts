// Parses the YAML frontmatter of a Markdown file, without aliases and custom tags.
import { yamlBoundError } from '../../core/index.ts';

/** The fields and the body of a file. */
export type Frontmatter = { readonly fields: Readonly<Record<string, unknown>>; readonly body: string };

/** The YAML and the body of a file; without frontmatter the whole file is the body. */
export type FrontmatterSplit = { readonly yaml: string | undefined; readonly body: string };

const maxYamlChars = 16_384;

/** Splits a text into frontmatter and body. */
export function splitFrontmatter(text: string): FrontmatterSplit {
  const found = /^\uFEFF?---[ \t]*\r?\n([^]*?)(?:^|\n)---[ \t]*(?:\r?\n|$)/.exec(text);
  return found ? { yaml: found[1] ?? '', body: text.slice(found[0].length) } : { yaml: undefined, body: text };
}

/** The fields and the body of a text, or why the frontmatter is invalid. */
export async function parseFrontmatter(text: string): Promise<Frontmatter | { readonly why: string }> {
  const { yaml, body } = splitFrontmatter(text);
  if (yaml === undefined) return { fields: {}, body };
  if (yaml.length > maxYamlChars) return { why: `has more than ${maxYamlChars} characters of frontmatter` };
  const fields = await parseYamlFields(yaml);
  return typeof fields === 'string' ? { why: fields } : { fields, body };
}

/** Many files have values such as `use when: needed`, which is not YAML: the second attempt quotes each value. */
async function parseYamlFields(yaml: string): Promise<Readonly<Record<string, unknown>> | string> {
  const exceeded = yamlBoundError(yaml);
  if (exceeded !== undefined) return `has frontmatter that ${exceeded}`;
  const library = await import('yaml');
  const attempt = (source: string): unknown =>
    library.parse(source, { schema: 'core', maxAliasCount: 0, logLevel: 'error', prettyErrors: false });
  for (const source of [yaml, quoteYamlValues(yaml)])
    try {
      const value: unknown = attempt(source) ?? {};
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return 'has frontmatter that is not a list of fields';
      return value as Readonly<Record<string, unknown>>;
    } catch {
      continue;
    }
  return 'has frontmatter that is not YAML';
}

/** Quotes the value of each line. */
const quoteYamlValues = (yaml: string): string =>
  yaml.replaceAll(
    /^([A-Za-z][\w-]*):[ \t]+([^\s"'|>][^\r\n]*)\r?$/gm,
    (_, key: string, value: string) => `${key}: ${JSON.stringify(value.trimEnd())}`,
  );

/** A field as text; numbers and lists are written back as text. */
export function textField(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name];
  if (typeof value === 'string') return value.trim() || undefined;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? `[${value.join(', ')}]` : undefined;
}
