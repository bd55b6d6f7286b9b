// A user prompter that becomes available after the editor has opened the session.
import type { UserPrompter } from '../../coding-agent/integrations/index.ts';
import type { AcpClient } from './acp-session.ts';

/** A prompter that can be connected later. */
export type DeferredPrompter = UserPrompter & { attach(editor: AcpClient): void };

/** Creates an unconnected prompter; `tell` gets messages until it is connected. */
export function createDeferredPrompter(tell: (text: string) => void): DeferredPrompter {
  let editor: AcpClient | undefined;
  const say = (text: string): void =>
    editor
      ? editor.transcript.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'info', text })
      : tell(`${text}\n`);
  return {
    attach: (now) => void (editor = now),
    get isAbsent() {
      return editor === undefined;
    },
    async confirm(question, detail = '', signal = new AbortController().signal) {
      // A client that cannot ask, or is gone, counts as no.
      return (await editor?.confirm(question, detail, signal).catch(() => false)) ?? false;
    },
    // Editors have no display for transient progress.
    progress() {},
    notify: say,
  };
}
