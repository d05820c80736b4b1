export interface PaletteState {
  isOpen: boolean
  open: () => void
  close: () => void
  /** Puts the focus back to where it was. */
  onClosed: () => void
}
