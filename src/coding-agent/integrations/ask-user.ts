// The tool with which the model asks the user.
import { askUser } from '../../tools/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** Loads the tool that asks the user; there is none if no user can answer. */
export async function loadAskUser({ prompter }: IntegrationContext): Promise<Integration> {
  if (!prompter.askText) return emptyIntegration;
  const tool = askUser(async ({ question, choices }, signal) => prompter.askText?.(question, choices, signal));
  return { ...emptyIntegration, tools: [{ ...tool, deferred: true }] };
}
