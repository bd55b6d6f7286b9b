// Recognizes answers that abstain or refuse, by English phrases and a few of other languages.
import { contentWords, splitSentences } from './words.ts';

/** English phrases that express not knowing. */
const abstentions: readonly RegExp[] = [
  /\b(?:i|we) (?:really |simply |honestly |just )?(?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t) (?:actually |possibly |really )?(?:know|tell|say|determine|answer|verify|see|predict|access|be (?:sure|certain))\b/i,
  /\b(?:i am|i['’]m) (?:not (?:sure|certain|able)|unable|unsure)\b/i,
  /\b(?:i|we) have no (?:way|information|knowledge|record|idea|access)\b/i,
  /\b(?:i|we) (?:do not|don['’]t) have (?:the |any |enough |sufficient |reliable |access|that |such |this )/i,
  /\b(?:no one|nobody|no-one) (?:can|could) (?:know|tell|say|predict)\b/i,
  /\b(?:it is|it['’]s|that is|that['’]s|this is) (?:not (?:known|possible to (?:know|tell|say|determine|predict))|impossible to (?:know|tell|say|determine|predict)|unknown|unknowable)\b/i,
  /\b(?:cannot|can['’]t|could not) be (?:known|determined|predicted|answered|verified)\b/i,
  /\bnot enough information\b|\binsufficient information\b|\bthe text does(?: not|n['’]t) (?:say|mention|state|tell|specify)\b|\b(?:is|was|are) not (?:given|mentioned|stated|specified|provided)\b/i,
  /^\W*unknown\W*$/i,
];

/** Returns true if a text abstains. */
export const isAbstention = (text: string): boolean => abstentions.some((pattern) => pattern.test(text));

/** English phrases of a sentence that gives no answer, beside those of an abstention. */
const refusals: readonly RegExp[] = [
  /\bas an ai\b/i,
  /\bsorry\b/i,
  /\bi (?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t|am not|need) /i,
  /\b(?:more|additional|further|enough|sufficient|no) (?:specific )?(?:information|context|details|clarification)\b/i,
  /\bplease (?:provide|clarify|specify)\b/i,
  /^\W*(?:ich weiß (?:es )?nicht|das weiß ich nicht|ich kann (?:das|diese frage|ihnen)|leider|es tut mir leid|je ne sais pas|désolé|no lo sé|lo siento|我不知道|抱歉|对不起|لا أعرف|عذرا|عذرًا|آسف)/i,
];

/** The characters of an answer that are read; a refusal says so at its start. */
const maxReadLength = 20_000;

/** Returns true if no sentence of a text answers: it is empty, or each sentence abstains, apologizes or asks for more. */
export function isRefusal(text: string): boolean {
  const sentences = splitSentences(text.slice(0, maxReadLength));
  const answers = sentences.filter(
    (sentence) => !isAbstention(sentence) && !refusals.some((each) => each.test(sentence)),
  );
  if (answers.length > 0 && sentences.length > answers.length) return contentWords(answers.join(' ')).length === 0;
  return !/[\p{L}\p{N}]/u.test(answers.join(' '));
}
