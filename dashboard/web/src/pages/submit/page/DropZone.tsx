// The whole page takes a manifest that is dropped on it.

import type { DragEvent, ReactNode } from "react";
import { useState } from "react";
import { useText } from "../../../i18n";

interface Props {
  className: string;
  onFiles: (files: FileList) => void;
  children: ReactNode;
}

export function DropZone({ className, onFiles, children }: Props): ReactNode {
  const { t } = useText();
  // How many elements below the mouse have been entered and not left.
  const [depth, setDepth] = useState(0);
  const over = (event: DragEvent): boolean => event.dataTransfer.types.includes("Files");
  return (
    // Files can also be opened by a button: dropping is for those who have a mouse.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      className={className}
      onDragEnter={(event) => over(event) && setDepth((before) => before + 1)}
      onDragLeave={(event) => over(event) && setDepth((before) => Math.max(0, before - 1))}
      onDragOver={(event) => over(event) && event.preventDefault()}
      // Before the editor, which would write the file's text at the mouse.
      onDropCapture={(event) => {
        setDepth(0);
        if (!over(event)) return;
        event.preventDefault();
        event.stopPropagation();
        onFiles(event.dataTransfer.files);
      }}
    >
      {children}
      {depth > 0 && <div className="submit-drop">{t.submit.picker.drop}</div>}
    </div>
  );
}
