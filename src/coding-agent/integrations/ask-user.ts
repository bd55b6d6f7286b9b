// A way for the model to ask the person, where there is one.
import { askUser } from '../../tools/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** The tool that asks the person; none where nobody can be asked. */
export async function loadAskUser({ prompter }: IntegrationContext): Promise<Integration> {
  if (!prompter.askText) return emptyIntegration;
  const tool = askUser(async ({ question, choices }, signal) => prompter.askText?.(question, choices, signal));
  return { ...emptyIntegration, tools: [{ ...tool, deferred: true }] };
}
