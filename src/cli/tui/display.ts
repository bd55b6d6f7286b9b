// Draws the transcript above the footer on the terminal; lines that scroll off the screen are left to the scrollback of the terminal.
import {
  ProcessTerminal,
  setCapabilities,
  truncateToWidth,
  TuiMainScreen,
  visibleWidth,
  type Component,
} from '@earendil-works/pi-tui';
import type { ScreenTranscript } from './transcript.ts';

// Clearing the screen must not clear the scrollback from before this program.
class ScrollbackSafeTerminal extends ProcessTerminal {
  override write(data: string): void {
    super.write(data.replace('\x1b[2J\x1b[H\x1b[3J', '\x1b[2J\x1b[H'));
  }
}

/** The drawn screen. Lines that scroll off are frozen after each frame, so that a frame redraws at most one screen. */
export class Display extends TuiMainScreen {
  readonly #transcript: ScreenTranscript;
  readonly #footer: Component;
  #width = 0;
  #height = 0;
  /** Lines of the transcript in the last frame. */
  #transcriptLines = 0;
  /** Whether this program controls the terminal now. */
  #ownsTerminal = false;

  readonly #modes: { readonly start: string; readonly stop: string };

  /** `modes` are sequences that are written when the display starts and stops. */
  constructor(
    transcript: ScreenTranscript,
    footer: Component,
    modes: { readonly start: string; readonly stop: string },
  ) {
    super(new ScrollbackSafeTerminal());
    // Links are printed with their URL, which a clickable link would hide; no other capability is used.
    setCapabilities({ images: null, trueColor: false, hyperlinks: false });
    this.#transcript = transcript;
    this.#footer = footer;
    this.#modes = modes;
    this.addChild(footer);
  }

  override render(width: number): string[] {
    const footer = this.#footer.render(width);
    const above = this.#transcript.lines(width);
    this.#transcriptLines = above.length;
    // pi-tui throws on a line wider than the terminal; a layout error must not end the program.
    return [...above, ...footer].map((line) => (visibleWidth(line) > width ? truncateToWidth(line, width, '') : line));
  }

  protected override doRender(): void {
    const { columns, rows } = this.terminal;
    if (this.#width !== 0 && (columns !== this.#width || rows !== this.#height)) this.#refit(rows);
    this.#width = columns;
    this.#height = rows;
    super.doRender();
    const state = this.captureRenderState();
    const scrolled = Math.min(state.previousViewportTop, this.#transcriptLines);
    if (scrolled <= 0) return;
    this.#transcript.freeze(scrolled);
    this.restoreRenderState({
      ...state,
      previousLines: state.previousLines.slice(scrolled),
      cursorRow: state.cursorRow - scrolled,
      hardwareCursorRow: state.hardwareCursorRow - scrolled,
      maxLinesRendered: state.maxLinesRendered - scrolled,
      previousViewportTop: state.previousViewportTop - scrolled,
    });
  }

  override start(): void {
    this.#ownsTerminal = true;
    super.start();
    this.terminal.write(this.#modes.start);
  }

  /** Restores the terminal; does nothing if this program does not control it. */
  override stop(): void {
    if (this.#ownsTerminal) {
      this.terminal.write(this.#modes.stop);
      super.stop();
    }
    this.#ownsTerminal = false;
  }

  /** Draws the last `lines` lines again; by default as many as the screen holds. */
  redraw(lines?: number): void {
    this.#refit(lines ?? this.terminal.rows);
    this.requestRender(true);
  }

  #refit(rows: number): void {
    const { columns } = this.terminal;
    this.#transcript.refit(columns, Math.max(1, rows - this.#footer.render(columns).length));
  }
}
