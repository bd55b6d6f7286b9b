// The types of action claims: what an answer says was done, and what a session has about it.
import type { Claim } from '../types.ts';
import type { ActionLog } from './action-log.ts';
import type { Task } from './commands.ts';

/** What a claim says was done. */
export type Action =
  | { readonly type: 'file'; readonly change: 'create' | 'edit' | 'delete' | 'move'; readonly path: string }
  /** Something was changed, and the claim names no file. */
  | { readonly type: 'some-change'; readonly task?: Task }
  | {
      readonly type: 'run';
      readonly command?: string;
      readonly task?: Task;
      /** The claim names no command and no task: any command counts that is for something. */
      readonly isAny?: boolean;
      /** The claim is about all tests. */
      readonly isFull?: boolean;
      /** How many times it ran. */
      readonly times?: number;
    }
  | {
      readonly type: 'pass';
      readonly command?: string;
      readonly task?: Task;
      /** The claim is that everything passes: the commands of every task count. */
      readonly isAny?: boolean;
      /** The claim is about a part of the tests. */
      readonly isNarrow?: boolean;
      /** The claim is about all tests. */
      readonly isFull?: boolean;
      /** The claim is that they pass after an edit, also after one of a style sheet. */
      readonly isStill?: boolean;
      /** The number of tests that passed. */
      readonly count?: number;
    }
  | { readonly type: 'exit'; readonly command?: string; readonly code: number }
  | { readonly type: 'output'; readonly command?: string; readonly value: string }
  | { readonly type: 'content'; readonly path?: string; readonly value: string }
  | { readonly type: 'git'; readonly operation: GitOperation }
  | { readonly type: 'install'; readonly name?: string }
  /** No file was changed, no source file, or no file that the answer does not name. */
  | { readonly type: 'no-change'; readonly scope: 'files' | 'code' | 'others' | 'other-edits' }
  /** No command ran, or none of a task. */
  | { readonly type: 'no-run'; readonly task?: Task }
  | { readonly type: 'file-count'; readonly change: 'create' | 'edit' | 'delete'; readonly count: number }
  /** How many tests the last run reported as failed or skipped. */
  | { readonly type: 'test-count'; readonly state: 'failed' | 'skipped'; readonly count: number }
  /** What a command counted, such as errors; `noun` is the start of the word. */
  | { readonly type: 'command-count'; readonly command: string; readonly noun: string; readonly count: number }
  | { readonly type: 'measurement'; readonly value: string; readonly unit: string }
  /** An own change of a file was taken back. */
  | { readonly type: 'undo'; readonly path: string }
  | { readonly type: 'read'; readonly path: string };

/** What an answer can say about version control and releases. */
export type GitOperation =
  | 'commit'
  | 'push'
  | 'branch'
  | 'tag'
  | 'merge'
  | 'rebase'
  | 'stash'
  | 'squash'
  | 'cherry-pick'
  | 'undo commit'
  | 'pull request'
  | 'issue'
  | 'deployment'
  | 'publication';

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
  /** Whether a call was made after the last words of the user; if absent, every call was. */
  readonly isOfThisRun?: (call: string) => boolean;
  /** The paths that tools read or changed; undefined if they are not all known. */
  readonly touchedPaths?: () => readonly string[] | undefined;
  /** The last words of the user. */
  readonly prompt?: () => string;
  /** Whether the user wrote this text. */
  readonly isFromUser?: (text: string) => boolean;
};
