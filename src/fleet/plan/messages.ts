// Reads the messages to a plan: consent, and the cancellation and steering of one step. Each is recorded once, by its position.
import { maxOf, type InboxDelivery } from '../../core/index.ts';
import { consentCall, formatConsentQuestion } from './consent.ts';
import { isActive, isUnsuccessful } from './events.ts';
import { getStepRunName, type PlanRound } from './round.ts';

/** Records the messages that the plan has not read. */
export function readPlanMessages(round: PlanRound, deliveries: readonly InboxDelivery[]): void {
  for (const delivery of deliveries) {
    if (delivery.position <= round.state.position) continue;
    readMessage(round, delivery);
  }
  const last = maxOf([0, ...deliveries.filter(isForPlan).map(({ position }) => position)]);
  if (last > round.state.position) round.emit({ type: 'inbox-read', position: last });
}

/** Whether a plan acts on a message. That a child run has ended is read from the queue. */
const isForPlan = ({ message }: InboxDelivery): boolean => message.type !== 'ended';

function readMessage(round: PlanRound, { message }: InboxDelivery): void {
  if (message.type === 'ended' || (message.run !== undefined && message.run !== round.run.id)) return;
  const by = 'by' in message && message.by !== undefined ? { by: message.by } : {};
  if (message.type === 'answer') {
    if (round.state.stage !== 'proposed' || message.call !== consentCall) return;
    if (message.question !== undefined && message.question !== formatConsentQuestion(round.state)) return;
    round.emit({ type: message.allowed ? 'plan-approved' : 'plan-refused', ...by });
    return;
  }
  if (message.step === undefined) return;
  const step = round.state.steps.get(message.step);
  if (!step || step.status === 'done' || step.status === 'replaced' || isUnsuccessful(step)) return;
  if (message.type === 'cancel') {
    const why = message.by === undefined ? 'it was cancelled' : `it was cancelled by ${message.by}`;
    round.emit({ type: 'step-cancelled', step: step.id, why, ...by });
    return;
  }
  round.emit({ type: 'step-steered', step: step.id, text: message.text, ...by });
  // An attempt that has started does not read its prompt again.
  const name = getStepRunName(step);
  if (isActive(step) && round.children.has(name)) round.sends.push({ name, text: message.text, ...by });
}
