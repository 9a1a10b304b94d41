// Keeps an error of one page from taking the rest along.

import { Button, Result } from "antd";
import type { ErrorInfo, ReactNode } from "react";
import { Component } from "react";
import { useText } from "../i18n";

interface Props {
  /** Another page: begin anew. */
  resetKey: string;
  children: ReactNode;
}

interface State {
  error: Error | undefined;
  resetKey: string;
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: undefined, resetKey: this.props.resetKey };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    if (props.resetKey === state.resetKey) return null;
    return { error: undefined, resetKey: props.resetKey };
  }

  override componentDidCatch(error: Error, info: ErrorInfo): void {
    // For who reports it: the page itself shows only the message.
    // eslint-disable-next-line no-console
    console.error(error, info.componentStack);
  }

  override render(): ReactNode {
    if (!this.state.error) return this.props.children;
    return <Crash error={this.state.error} />;
  }
}

/** A part of the page that did not come: the server is away, or was updated under us. */
function isOutdated(error: Error): boolean {
  return /dynamically imported module|module script failed|preload CSS/i.test(error.message);
}

function Crash({ error }: { error: Error }): ReactNode {
  const { t } = useText();
  const outdated = isOutdated(error);
  return (
    <div role="alert">
      <Result
        status="warning"
        title={t.shell.crashTitle}
        subTitle={outdated ? t.shell.outdatedText : t.shell.crashText}
        extra={
          <Button type="primary" onClick={() => window.location.reload()}>
            {t.shell.reload}
          </Button>
        }
      >
        {!outdated && <pre className="mono crash-message">{error.message}</pre>}
      </Result>
    </div>
  );
}
