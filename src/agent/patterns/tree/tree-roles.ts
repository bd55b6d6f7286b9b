// The roles of a tree search: the proposer of actions, the check that scores states, and the reflector that writes what to do otherwise after a failed branch.
import type { Json } from '../../../core/index.ts';
import { createPrompt, type ReadResult, type RoleTask } from '../call-member.ts';
import { dataSentence, quoteOutside, readObject, readText } from '../read-answer.ts';

/** What a proposer gets. */
export type ProposerInput<Action extends Json = Json> = {
  readonly task: string;
  /** The description of the state. */
  readonly state: string;
  /** The actions that led to it. */
  readonly actions: readonly Action[];
  /** What the check or the last action said about it. */
  readonly detail: string;
  /** Lessons of failed branches, oldest first. */
  readonly reflections: readonly string[];
  /** Actions that were tried in this state. */
  readonly tried: readonly Action[];
  /** The number of proposals that are used. */
  readonly count: number;
};

/** What a check gets. */
export type CheckInput<Action extends Json, W> = {
  readonly task: string;
  /** The state itself, for code that reads it or runs a test on it. */
  readonly workspace: W;
  readonly actions: readonly Action[];
  /** Its description; empty for code. */
  readonly state: string;
};

/** What a check says about a state. */
export type StateCheck = {
  /** From 0 to 1. */
  readonly value: number;
  /** Whether the task is done; the search ends then. */
  readonly solved?: boolean;
  /** Whether nothing below the state can help. */
  readonly dead?: boolean;
  /** What is wrong, for later proposals. */
  readonly detail?: string;
};

/** What a reflector gets about a branch that failed. */
export type ReflectorInput<Action extends Json = Json> = {
  readonly task: string;
  readonly actions: readonly Action[];
  readonly detail: string;
};

const maxDetail = 2000;

/** How actions are proposed. */
export const proposerTask = <Action extends Json>(): RoleTask<ProposerInput<Action>, readonly unknown[]> => ({
  role: 'proposer',
  format: ({ task, state, actions, detail, reflections, tried, count }) =>
    createPrompt(
      `You propose the next actions for a task: up to ${count}, different from each other and from those that were tried, best first. ${dataSentence} Reply with JSON: {"actions": […]}.`,
      `The task:\n${task}`,
      quoteOutside('the present state', state),
      ...(detail === '' ? [] : [quoteOutside('what a check said about it', detail)]),
      ...(actions.length === 0 ? [] : [quoteOutside('the actions so far', JSON.stringify(actions))]),
      ...(tried.length === 0 ? [] : [quoteOutside('actions that were tried here', JSON.stringify(tried))]),
      ...(reflections.length === 0 ? [] : [quoteOutside('lessons of failed branches', reflections.join('\n'))]),
    ),
  read: (value): ReadResult<readonly unknown[]> => {
    const list = Array.isArray(value) ? (value as readonly unknown[]) : readObject(value)?.['actions'];
    return Array.isArray(list)
      ? { value: list as readonly unknown[] }
      : { problem: 'The proposer returned no list of actions.' };
  },
});

/** How a state is scored. */
export const checkTask = <Action extends Json, W>(): RoleTask<CheckInput<Action, W>, StateCheck> => ({
  role: 'check',
  schema: {
    type: 'object',
    properties: {
      value: { type: 'number', minimum: 0, maximum: 1 },
      solved: { type: 'boolean' },
      detail: { type: 'string' },
    },
    required: ['value', 'solved', 'detail'],
    additionalProperties: false,
  },
  format: ({ task, state }) =>
    createPrompt(
      `You score how far a state solves a task; another author made it. ${dataSentence} Reply with JSON: {"value": number from 0 to 1, "solved": true or false, "detail": "what is wrong"}.`,
      `The task:\n${task}`,
      quoteOutside('the state', state),
    ),
  read: (answer): ReadResult<StateCheck> => {
    const { value, solved, dead, detail } = readObject(answer) ?? {};
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0 || value > 1)
      return { problem: 'The check returned no value from 0 to 1.' };
    const text = typeof detail === 'string' ? detail.slice(0, maxDetail) : '';
    return { value: { value, solved: solved === true, dead: dead === true, detail: text }, text, score: value };
  },
});

/** How a failed branch is reflected on. */
export const reflectorTask = <Action extends Json>(): RoleTask<ReflectorInput<Action>, string> => ({
  role: 'reflector',
  format: ({ task, actions, detail }) =>
    createPrompt(
      `A branch of a search failed. Say in one or two sentences what to do otherwise. ${dataSentence}`,
      `The task:\n${task}`,
      quoteOutside('the actions', JSON.stringify(actions)),
      quoteOutside('what the check said', detail),
    ),
  read: readText,
});
