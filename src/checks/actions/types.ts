// The types of action claims: what an answer says was done, and what a session has about it.
import type { Claim } from '../types.ts';
import type { ActionLog } from './action-log.ts';
import type { Task } from './commands.ts';

/** What a claim says was done. */
export type Action =
  | { readonly type: 'file'; readonly change: 'create' | 'edit' | 'delete' | 'move'; readonly path: string }
  /** Something was changed, and the claim names no file. */
  | { readonly type: 'some-change'; readonly task?: Task }
  | { readonly type: 'run'; readonly command?: string; readonly task?: Task }
  | {
      readonly type: 'pass';
      readonly command?: string;
      readonly task?: Task;
      /** The claim is about a part of the tests. */
      readonly isNarrow?: boolean;
      /** The number of tests that passed. */
      readonly count?: number;
    }
  | { readonly type: 'exit'; readonly command?: string; readonly code: number }
  | { readonly type: 'output'; readonly command?: string; readonly value: string }
  | { readonly type: 'content'; readonly path?: string; readonly value: string }
  | { readonly type: 'git'; readonly operation: 'commit' | 'push' | 'branch' }
  | { readonly type: 'install'; readonly name?: string };

/** A claim of an answer about an action. */
export type ActionClaim = Claim & {
  readonly action: Action;
  /** Whether the sentence has a subject in the first person; without one it may describe what others did. */
  readonly isOwn: boolean;
};

/** What a session has about actions. */
export type ActionEvidence = {
  readonly log: ActionLog;
  /** The text of the result of a call; undefined if it is no longer in the conversation. */
  readonly resultText?: (call: string) => string | undefined;
  /** The text that a call wrote: `whole` if it is the complete file. Undefined if it is no longer in the conversation. */
  readonly writtenText?: (call: string) => { readonly text: string; readonly whole: boolean } | undefined;
  /** The last words of the user. */
  readonly prompt?: () => string;
  /** Whether the user wrote this text. */
  readonly isFromUser?: (text: string) => boolean;
};
