// Runs before the first paint, so that the page never flashes in the other theme. The switch in the shell stores the
// choice under `loadout-theme` and sends a `loadout-theme` event; this file alone applies it.
;(() => {
  const dark = window.matchMedia('(prefers-color-scheme: dark)')

  function apply() {
    let choice = 'system'
    try {
      choice = window.localStorage.getItem('loadout-theme') ?? 'system'
    } catch {
      // Storage may be blocked; the system's choice is then ours.
    }
    const theme = choice === 'dark' || choice === 'light' ? choice : dark.matches ? 'dark' : 'light'
    document.documentElement.dataset.theme = theme
  }

  apply()
  dark.addEventListener('change', apply)
  window.addEventListener('storage', apply)
  window.addEventListener('loadout-theme', apply)
})()
