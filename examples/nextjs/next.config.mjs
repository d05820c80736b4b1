/** What holds a database and opens connections is loaded as it is, not bundled into routes. */
export default { serverExternalPackages: ['loadout', '@loadout/server', 'pg'] }
