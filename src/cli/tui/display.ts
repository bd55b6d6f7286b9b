// The terminal as the screen owns it: draws the transcript over the foot, and gives scrolled lines away for good.
import {
  ProcessTerminal,
  setCapabilities,
  truncateToWidth,
  TuiMainScreen,
  visibleWidth,
  type Component,
} from '@earendil-works/pi-tui';
import type { ScreenTranscript } from './transcript.ts';

// Clearing the screen must not clear what the person had in the scrollback before this program.
class ScrollbackSafeTerminal extends ProcessTerminal {
  override write(data: string): void {
    super.write(data.replace('\x1b[2J\x1b[H\x1b[3J', '\x1b[2J\x1b[H'));
  }
}

/** The drawn screen. After each frame the lines that left it are frozen, so that a frame costs one screen at most. */
export class Display extends TuiMainScreen {
  readonly #transcript: ScreenTranscript;
  readonly #footer: Component;
  #width = 0;
  #height = 0;
  /** Lines of the transcript in the last frame. */
  #transcriptLines = 0;
  /** Whether the terminal is ours now. */
  #ownsTerminal = false;

  constructor(transcript: ScreenTranscript, foot: Component) {
    super(new ScrollbackSafeTerminal());
    // A link is written with where it leads, which a clickable one would hide; and nothing here needs the terminal probed.
    setCapabilities({ images: null, trueColor: false, hyperlinks: false });
    this.#transcript = transcript;
    this.#footer = foot;
    this.addChild(foot);
  }

  override render(width: number): string[] {
    const foot = this.#footer.render(width);
    const above = this.#transcript.lines(width);
    this.#transcriptLines = above.length;
    // A line that is too long would end the program; one that was laid out wrongly must not.
    return [...above, ...foot].map((line) => (visibleWidth(line) > width ? truncateToWidth(line, width, '') : line));
  }

  protected override doRender(): void {
    const { columns, rows } = this.terminal;
    if (this.#width !== 0 && (columns !== this.#width || rows !== this.#height)) this.#refit(rows);
    this.#width = columns;
    this.#height = rows;
    super.doRender();
    const state = this.captureRenderState();
    const gone = Math.min(state.previousViewportTop, this.#transcriptLines);
    if (gone <= 0) return;
    this.#transcript.freeze(gone);
    this.restoreRenderState({
      ...state,
      previousLines: state.previousLines.slice(gone),
      cursorRow: state.cursorRow - gone,
      hardwareCursorRow: state.hardwareCursorRow - gone,
      maxLinesRendered: state.maxLinesRendered - gone,
      previousViewportTop: state.previousViewportTop - gone,
    });
  }

  override start(): void {
    this.#ownsTerminal = true;
    super.start();
  }

  /** Gives the terminal back; nothing where it is not ours now. */
  override stop(): void {
    if (this.#ownsTerminal) super.stop();
    this.#ownsTerminal = false;
  }

  /** Draws the last lines anew, as many as asked for or as the screen holds. */
  redraw(lines?: number): void {
    this.#refit(lines ?? this.terminal.rows);
    this.requestRender(true);
  }

  #refit(rows: number): void {
    const { columns } = this.terminal;
    this.#transcript.refit(columns, Math.max(1, rows - this.#footer.render(columns).length));
  }
}
