// The slash command /why: explains a turn of this conversation from its log.
import type { SlashCommand } from './slash-command.ts';

/** The slash command `/why`. */
export const whyCommand: SlashCommand = {
  name: 'why',
  description: 'explain a turn: notes for the model, held calls, verdicts on its answer; the last one if none is named',
  argumentHint: '<turn>',
  async run(args, { conversation, notify, showPage }) {
    const word = args.trim();
    if (!/^\d*$/.test(word)) return notify('Use /why or /why <turn>.', 'warning');
    const { explainTurn, formatTurnExplanation, getDirectoryOfEvents, loadActiveRuleParts } =
      await import('../../evals/index.ts');
    const { session, settings } = conversation;
    const events = (await Array.fromAsync(session.log.read())).flat();
    const turn = word === '' ? session.state.turn : Number(word);
    if (turn < 1 || turn > session.state.turn)
      return notify(turn < 1 ? 'There is no turn yet.' : `There is no turn ${turn}.`, 'warning');
    const parts = await loadActiveRuleParts(settings, getDirectoryOfEvents(events));
    return showPage(formatTurnExplanation(explainTurn(events, parts, turn)), `Turn ${turn}`);
  },
};
