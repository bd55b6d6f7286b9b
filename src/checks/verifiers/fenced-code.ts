// Finds the fenced code blocks of a claim, and what the claim says beside them.

/** A fenced code block: its language in lower case, and its code. */
export type CodeBlock = { readonly language: string; readonly code: string };

/** Max characters of a block that is parsed. */
export const maxCodeChars = 100_000;

/** Returns the complete fenced blocks of a text, and the text without them. */
export function findCodeBlocks(text: string): { readonly blocks: readonly CodeBlock[]; readonly rest: string } {
  const blocks: CodeBlock[] = [];
  const rest: string[] = [];
  let open: { readonly fence: string; readonly language: string; readonly lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const fence = /^[ \t]{0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)/.exec(line);
    if (open && fence && (fence[1] ?? '').startsWith(open.fence) && fence[2] === '') {
      blocks.push({ language: open.language, code: open.lines.join('\n') });
      open = undefined;
    } else if (open) open.lines.push(line);
    else if (fence) open = { fence: fence[1] ?? '```', language: (fence[2] ?? '').toLowerCase(), lines: [] };
    else rest.push(line);
  }
  if (open) rest.push(...open.lines);
  return { blocks, rest: rest.join('\n').trim() };
}
