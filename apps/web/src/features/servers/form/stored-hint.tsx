/** Arguments and URLs keep their secrets in place, as a placeholder. */
export function StoredHint() {
  return (
    <>
      <code className="font-mono text-xs">{'${secret:…}'}</code> stands for a stored secret. Leave it to keep the
      secret, or write a new one over it.
    </>
  )
}
