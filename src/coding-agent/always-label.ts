// What an "always" would cover, in words: a person must not take more for granted than is, nor less.

/** How each tool for which the path says it all is put into words. */
const labelsByTool: Readonly<Record<string, (path: string) => string>> = {
  write_file: (path) => `always write to ${path} in this session, whatever the content`,
  edit_file: (path) => `always edit ${path} in this session, whatever the change`,
  read_file: (path) => `always read ${path} in this session`,
  delete_file: (path) => `always delete ${path} in this session`,
};

/** What saying "always" to a call of this kind means; a kind is what an outfit's `describeKind` gives. */
export function formatAlwaysLabel(kind: string): string {
  const [tool = ''] = kind.split(/[ :]/, 1);
  const rest = kind.slice(tool.length);
  if (rest.startsWith(': ')) return 'always run exactly this command in this session';
  // A path that could not be followed stands in the whole input, as JSON.
  const act = Object.hasOwn(labelsByTool, tool) && !rest.startsWith(' {') ? labelsByTool[tool] : undefined;
  return act?.(shortenPath(rest.slice(1))) ?? 'always make exactly this call in this session';
}

/** The question names the path in full; beside the key its ends will do. */
function shortenPath(path: string): string {
  const parts = path.split('/');
  return parts.length > 3 ? `/…/${parts.at(-1)}` : path;
}
