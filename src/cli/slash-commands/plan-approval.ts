// Approval of a plan in the terminal: its file is shown, approved as a whole or by step for exactly that text, and carried out with its steps shown.
import {
  carryOutPlan,
  formatPlanProgress,
  getPlanFile,
  planProgressView,
  readPlan,
  writePlan,
  type Plan,
  type PlanProgress,
} from '../../coding-agent/plans/index.ts';
import { errorMessage, escapeInvisible, FairleadError, getAnswerText } from '../../core/index.ts';
import type { CommandContext } from './slash-command.ts';

/** The file of the plan of this conversation. */
const planFileOf = ({ conversation }: CommandContext): string =>
  getPlanFile(conversation.settings.dirs.state, conversation.agent.workspace.cwd, conversation.name);

/** Keeps the last answer as the plan, and asks whether it is carried out. An answer without steps, such as a question, is no plan. */
export async function offerPlan(context: CommandContext): Promise<void> {
  let plan: Plan;
  try {
    plan = writePlan(planFileOf(context), getAnswerText(context.conversation.session.state).text);
  } catch (error) {
    if (error instanceof FairleadError && error.code === 'plan/no-steps') return undefined;
    throw error;
  }
  context.notify(`The plan is in ${plan.file}: you can edit it before you answer.`);
  return approvePlan(context, plan);
}

/** Reads the plan of this conversation from its file, shows it, and asks whether it is carried out. */
export async function offerSavedPlan(context: CommandContext): Promise<void> {
  let plan: Plan;
  try {
    plan = readPlan(planFileOf(context));
  } catch (error) {
    return context.notify(errorMessage(error), 'warning');
  }
  context.showPage(escapeInvisible(plan.text), `Plan ${plan.name}`);
  return approvePlan(context, plan);
}

/** Shows the progress of the plan of this conversation. */
export async function showPlanProgress(context: CommandContext): Promise<void> {
  const progress = await readProgress(context);
  context.notify(
    progress ? `${progress.file}\n${formatPlanProgress(progress)}` : 'No plan was approved. /plan <task> makes one.',
  );
}

async function readProgress({ conversation }: CommandContext): Promise<PlanProgress | undefined> {
  const events = await conversation.events();
  return events.reduce((state, event) => planProgressView.on(state, event), planProgressView.initial);
}

/** Asks about the text that was shown. If the file has another text when the user answers, that text is shown and asked about. */
async function approvePlan(context: CommandContext, shown: Plan): Promise<void> {
  const { conversation, ui, signal } = context;
  for (let plan = shown; ;) {
    let reply: string | undefined;
    const key = await ui.askKey(
      {
        title: `Carry out this plan? (${plan.steps.length} steps, hash ${plan.hash.slice(0, 12)})`,
        keys: [
          { key: 'y', label: 'Yes, ask before changes' },
          { key: 'e', label: 'Yes, and accept edits in this folder' },
          { key: 's', label: 'Yes, and ask before each step' },
          { key: 'n', label: 'No, keep planning' },
        ],
        defaultKey: 'n',
        onReply: (text) => (reply = text),
      },
      signal,
    );
    if (reply !== undefined) return context.runAgent(reply);
    if (key === 'n' || signal.aborted) return undefined;
    const now = readPlan(plan.file);
    if (now.hash === plan.hash) {
      await conversation.setMode(key === 'e' ? 'accept-edits' : 'ask');
      context.refreshStatus();
      return carryOut(context, now, key === 's');
    }
    context.showPage(escapeInvisible(now.text), `Plan ${now.name}, changed since it was shown`);
    plan = now;
  }
}

async function carryOut(context: CommandContext, plan: Plan, asksEachStep: boolean): Promise<void> {
  const { conversation, notify, ui, signal } = context;
  const { end, progress } = await carryOutPlan(plan, await readProgress(context), {
    annotate: (key, value) => conversation.session.annotate(key, value),
    readPlan: () => readPlan(plan.file),
    onProgress: (next) => notify(formatPlanProgress(next)),
    runStep: async (note, prompt) => {
      await conversation.addNote(note);
      await context.runAgent(prompt);
      const { ended } = conversation.session.state;
      if (ended?.reason === 'answered' || ended?.reason === 'task-complete')
        return { answer: getAnswerText(conversation.session.state).text };
      return {
        problem: ended?.detail ?? ended?.reason ?? 'it waits for you',
        isCancelled: ended?.reason === 'cancelled',
      };
    },
    ...(asksEachStep
      ? {
          approveStep: async (step: string, number: number) => {
            const key = await ui.askKey(
              {
                title: `Step ${number}: ${escapeInvisible(step)}`,
                keys: [
                  { key: 'y', label: 'Carry it out' },
                  { key: 'k', label: 'Skip it' },
                  { key: 'n', label: 'Stop here' },
                ],
                defaultKey: 'n',
              },
              signal,
            );
            return key === 'y' ? ('run' as const) : key === 'k' ? ('skip' as const) : ('stop' as const);
          },
        }
      : {}),
  });
  if (end === 'done') return notify(`The plan is carried out: ${progress.steps.length} steps.`);
  const rest = progress.steps.filter(({ state }) => state === 'pending' || state === 'failed').length;
  const why = { failed: 'A step failed', stopped: 'The plan was stopped', changed: 'The plan file was changed' }[end];
  return notify(`${why}: ${rest} steps are not done. /plan approve shows the plan and continues.`, 'warning');
}
