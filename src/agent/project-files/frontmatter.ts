// The block between two lines of dashes at the head of a Markdown file, read as YAML without anything that YAML could do to us.

/** A file's fields and what stands below them. */
export type Frontmatter = { readonly fields: Readonly<Record<string, unknown>>; readonly body: string };

/** Where a file's fields are and what follows them; without fields, all of it is the body. */
export type FrontmatterSplit = { readonly yaml: string | undefined; readonly body: string };

const maxYamlChars = 16_384;

/** Parts the fields of a text from its body. */
export function splitFrontmatter(text: string): FrontmatterSplit {
  const found = /^\uFEFF?---[ \t]*\r?\n([^]*?)(?:^|\n)---[ \t]*(?:\r?\n|$)/.exec(text);
  return found ? { yaml: found[1] ?? '', body: text.slice(found[0].length) } : { yaml: undefined, body: text };
}

/** The fields and the body of a text, or what is wrong with the fields in one sentence. */
export async function parseFrontmatter(text: string): Promise<Frontmatter | { readonly why: string }> {
  const { yaml, body } = splitFrontmatter(text);
  if (yaml === undefined) return { fields: {}, body };
  if (yaml.length > maxYamlChars) return { why: `has more than ${maxYamlChars} characters of frontmatter` };
  const fields = await parseYamlFields(yaml);
  return typeof fields === 'string' ? { why: fields } : { fields, body };
}

/** Many files in use hold values such as `use when: needed`, which is not YAML: read line by line they are plain enough. */
async function parseYamlFields(yaml: string): Promise<Readonly<Record<string, unknown>> | string> {
  const library = await import('yaml');
  const attempt = (source: string): unknown =>
    library.parse(source, { schema: 'core', maxAliasCount: 0, logLevel: 'error', prettyErrors: false });
  for (const source of [yaml, quoteYamlValues(yaml)])
    try {
      const value: unknown = attempt(source) ?? {};
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return 'has frontmatter that is no list of fields';
      return value as Readonly<Record<string, unknown>>;
    } catch {
      continue;
    }
  return 'has frontmatter that is not YAML';
}

/** Each value on its own line as a plain text. */
const quoteYamlValues = (yaml: string): string =>
  yaml.replaceAll(
    /^([A-Za-z][\w-]*):[ \t]+([^\s"'|>][^\r\n]*?)[ \t]*\r?$/gm,
    (_, key: string, value: string) => `${key}: ${JSON.stringify(value)}`,
  );

/** A field as text: what YAML took for a list or a number is written as it stood. */
export function textField(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name];
  if (typeof value === 'string') return value.trim() || undefined;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? `[${value.join(', ')}]` : undefined;
}
