// The slash command /verify: verifies the last answer claim by claim, with other models and the results of tools.
import type { SlashCommand } from './slash-command.ts';

/** The slash command `/verify`. */
export const verifyCommand: SlashCommand = {
  name: 'verify',
  description: 'verify the last answer claim by claim; what is not supported is struck out',
  async run(_, { conversation, notify, showPage, signal }) {
    const [{ verifyConversation }, { formatReport }] = await Promise.all([
      import('../../coding-agent/verification/index.ts'),
      import('../../checks/index.ts'),
    ]);
    let shown = '';
    const onProgress = ({ stage, text }: { readonly stage: string; readonly text: string }): void => {
      if (stage === 'done' || text === shown) return;
      shown = text;
      notify(`Verifying: ${text}`);
    };
    const report = await verifyConversation(conversation, signal, onProgress, notify);
    showPage(formatReport(report), 'Verification');
  },
};
