/** What the viewer gets and what it returns. It imports nothing, so that both sides can use it. */

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** [Unix time in seconds, value] */
  readonly values: readonly (readonly [number, string])[];
}

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly format?: string;
  readonly legendFormat?: string;
  readonly instant?: boolean;
}

export interface PanelModel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly Target[];
  readonly transformations?: readonly { readonly id: string; readonly options: unknown }[];
  readonly fieldConfig: unknown;
  readonly options: unknown;
  readonly collapsed?: boolean;
  readonly panels?: readonly PanelModel[];
}

/** A line in the charts: an alert started or stopped firing, or something was changed. */
export interface Mark {
  /** Unix time in seconds. */
  readonly at: number;
  /** As Grafana names it. */
  readonly color: string;
}

export interface Drawing {
  readonly theme: 'light' | 'dark';
  readonly widthPx: number;
  /** Unix time, in seconds. */
  readonly from: number;
  readonly to: number;
  readonly stepSeconds: number;
  readonly title: string;
  /** True: closed rows stay closed, as when the dashboard opens. False: every row is open. */
  readonly rowsAsSaved: boolean;
  readonly panels: readonly PanelModel[];
  /** The answers, by panel and query. */
  readonly answers: Readonly<Record<number, Readonly<Record<string, readonly Series[]>>>>;
  readonly marks: readonly Mark[];
}

export interface Drawn {
  readonly id: number;
  readonly title: string;
  /** Whether its title, or the heading of a column, does not fit. */
  readonly cut: boolean;
  /** The text that it shows if it has no values. */
  readonly nothing?: string;
  readonly error?: string;
}

declare global {
  var draw: (drawing: Drawing) => Promise<readonly Drawn[]>;
}
