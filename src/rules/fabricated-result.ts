// Detects an answer that fakes a tool result, and adds a note for the model that no tool ran.
import { messageText, type Rule } from '../core/index.ts';

/** Tags that mark tool results in the formats that models were trained on. */
const resultTagPattern =
  /<\/?(tool_result|tool_results|function_result|function_results|function_response|tool_response|tool_output|observation)\b[^<>]*>/i;

/** A line that announces a result. It counts only if it also names one of the tools. */
const announcementPattern =
  /^[ \t>*_#-]*(?:(?:tool|function)[ \t]*)?(?:results?|outputs?|responses?|observation)\b[^\n]{0,200}/gim;

/** Adds a note if an answer claims a result that no tool returned. Code in fences or backticks does not count. */
export const fabricatedResult: Rule = (event, state) => {
  if (event.type !== 'turn-ended') return [];
  const text = messageText(event.message)
    .replaceAll(/^ {0,3}(```+|~~~+)[^]*?(^ {0,3}\1|$(?![^]))/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');
  const names = state.tools.map((tool) => tool.name);
  const claim = resultTagPattern.exec(text)?.[0] ?? findAnnouncedResult(text, names);
  if (claim === undefined) return [];
  return [
    {
      key: 'claimed-result',
      text: `Your last answer contains "${claim.trim().slice(0, 80)}", which looks like the result of a tool, but no tool ran: results come only from tools. Do not rely on it. Call the tool if you need its result, and correct what you told the user.`,
      priority: 80,
    },
  ];
};

function findAnnouncedResult(text: string, names: readonly string[]): string | undefined {
  for (const [line] of text.matchAll(announcementPattern)) {
    const words = new Set(line.match(/[\w.-]+/g));
    if (/:/.test(line) && names.some((name) => words.has(name))) return line;
  }
  return undefined;
}
