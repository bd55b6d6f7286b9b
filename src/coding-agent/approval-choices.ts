// The answers that the user can give to the question about a tool call, with their keys and labels.
import type { PendingApproval } from '../core/index.ts';

/** An answer: approve this call, approve every call with this grant key, reject; or, after a crash, that the call has taken effect. */
export type ApprovalAnswer = 'once' | 'always' | 'no' | 'happened';

/** One of the answers. */
export type ApprovalChoice = { readonly answer: ApprovalAnswer; readonly key: string; readonly label: string };

/** The possible answers to the question about a call with this grant key. */
export const listApprovalChoices = (
  { kind }: Pick<PendingApproval, 'kind'>,
  grantKey: string,
): readonly ApprovalChoice[] =>
  kind === 'unknown-outcome'
    ? [
        { answer: 'once', key: 'y', label: 'yes, it did not happen' },
        { answer: 'no', key: 'n', label: 'no, tell the model that it is unknown' },
        { answer: 'happened', key: 'h', label: 'no, it has happened' },
      ]
    : [
        { answer: 'once', key: 'y', label: 'yes, this once' },
        { answer: 'no', key: 'n', label: 'no' },
        { answer: 'always', key: 'a', label: formatAlwaysLabel(grantKey) },
      ];

/** The answer of the chosen key or value; any other value is a rejection. */
export const parseApprovalAnswer = (
  choices: readonly ApprovalChoice[],
  by: 'key' | 'answer',
  value: unknown,
): ApprovalAnswer => choices.find((choice) => choice[by] === value)?.answer ?? 'no';

/** The labels of tools whose grant covers a path, whatever the rest of the input. */
const labelsByTool: Readonly<Record<string, (path: string) => string>> = {
  write_file: (path) => `always write to ${path} in this session, whatever the content`,
  edit_file: (path) => `always edit ${path} in this session, whatever the change`,
  read_file: (path) => `always read ${path} in this session`,
  delete_file: (path) => `always delete ${path} in this session`,
};

/** What "always" covers for a grant key; it must state neither more nor less than the grant. */
export function formatAlwaysLabel(grantKey: string): string {
  const [tool = ''] = grantKey.split(/[ :]/, 1);
  const rest = grantKey.slice(tool.length);
  if (rest.startsWith(': ')) return 'always run exactly this command in this session';
  // If the path could not be resolved, the key contains the whole input as JSON.
  const format = Object.hasOwn(labelsByTool, tool) && !rest.startsWith(' {') ? labelsByTool[tool] : undefined;
  return format?.(shortenPath(rest.slice(1))) ?? 'always make exactly this call in this session';
}

/** The question shows the full path; the label shows only its end. */
function shortenPath(path: string): string {
  const parts = path.split('/');
  return parts.length > 3 ? `/…/${parts.at(-1)}` : path;
}
