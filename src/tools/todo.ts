// The todo tool: the model's task list. Every call contains the complete list, so that the log alone determines its state.
import { isObject, toolOutput, escapeInvisibleLine, type Event, type Tool, type View } from '../core/index.ts';

/** One task of the todo list. */
export type TodoItem = { readonly text: string; readonly status: 'open' | 'doing' | 'done' };

const statusMarks = { open: '☐', doing: '▶', done: '☑' } as const;
const toolName = 'todo';

/** The todo tool. */
export const todo: Tool = {
  name: toolName,
  description:
    'Keep a list of the steps of a longer task. Give the complete list each time; keep one item in progress.',
  input: {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        maxItems: 50,
        items: {
          type: 'object',
          properties: {
            text: { type: 'string', minLength: 1, maxLength: 300 },
            status: { type: 'string', enum: ['open', 'doing', 'done'] },
          },
          required: ['text', 'status'],
          additionalProperties: false,
        },
      },
    },
    required: ['items'],
    additionalProperties: false,
  },
  effect: 'read',
  execute(input) {
    const { items } = input as { readonly items: readonly TodoItem[] };
    return toolOutput({ text: formatTodoList(items) || '(The list is empty.)', data: { items } });
  },
};

/** Formats a list as lines. */
export const formatTodoList = (items: readonly TodoItem[]): string =>
  items.map(({ text, status }) => `${statusMarks[status]} ${escapeInvisibleLine(text)}`).join('\n');

/** The list of a session, and the pending calls that may change it. */
export type TodoState = { readonly items: readonly TodoItem[]; readonly calls: readonly string[] };

/** The view of the list. */
export const todoView: View<TodoState> = {
  initial: { items: [], calls: [] },
  on(state, event: Event) {
    if (event.type === 'tool-started')
      return event.tool === toolName ? { ...state, calls: [...state.calls, event.call] } : state;
    if (event.type !== 'tool-ended' || !state.calls.includes(event.call)) return state;
    const calls = state.calls.filter((call) => call !== event.call);
    const items = isObject(event.data) ? event.data['items'] : undefined;
    return {
      calls,
      items: event.outcome === 'ok' && Array.isArray(items) ? (items as readonly TodoItem[]) : state.items,
    };
  },
};
