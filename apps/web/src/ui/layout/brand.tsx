/** Logo. */
export function Brand() {
  return (
    <span className="inline-flex items-center gap-2.5">
      <svg viewBox="0 0 32 32" aria-hidden="true" className="size-7 rounded-lg">
        <rect width="32" height="32" className="fill-ink" />
        <g fill="none" strokeWidth="3" strokeLinecap="round" className="stroke-canvas">
          <path d="M9 10h14" className="stroke-[oklch(0.76_0.09_235)] dark:stroke-[oklch(0.5_0.1_238)]" />
          <path d="M9 16h9" />
          <path d="M9 22h12" strokeOpacity=".55" />
        </g>
      </svg>
      <span className="text-[0.9375rem] font-semibold tracking-tight">Loadout</span>
    </span>
  )
}
