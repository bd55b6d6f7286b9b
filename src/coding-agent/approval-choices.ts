// What a person can say to a question about a call, in words and as a key.
import type { ToolCall } from '../core/index.ts';
import { formatAlwaysLabel } from './always-label.ts';

/** What a person says: yes to this call, yes to every call of exactly its kind, no; or, of one that a crash cut off, that it has happened. */
export type ApprovalAnswer = 'once' | 'always' | 'no' | 'happened';

/** One of the answers. */
export type ApprovalChoice = { readonly answer: ApprovalAnswer; readonly key: string; readonly label: string };

/** The answers to the question about a call of this kind. */
export const listApprovalChoices = (call: ToolCall, kind: string): readonly ApprovalChoice[] =>
  call.ask?.kind === 'unknown-outcome'
    ? [
        { answer: 'once', key: 'y', label: 'yes, it did not happen' },
        { answer: 'no', key: 'n', label: 'no, tell the model that it is unknown' },
        { answer: 'happened', key: 'h', label: 'no, it has happened' },
      ]
    : [
        { answer: 'once', key: 'y', label: 'yes, this once' },
        { answer: 'no', key: 'n', label: 'no' },
        { answer: 'always', key: 'a', label: formatAlwaysLabel(kind) },
      ];

/** What was said by choosing one of these answers; whatever is none of them is a no. */
export const parseApprovalAnswer = (
  choices: readonly ApprovalChoice[],
  by: 'key' | 'answer',
  chosen: unknown,
): ApprovalAnswer => choices.find((each) => each[by] === chosen)?.answer ?? 'no';
