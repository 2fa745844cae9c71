// Opens the panel from the toolbar button and makes the key at install. It holds
// no connection: the panel does, and lives as long as it is open.

import { api, ownKey } from "./settings.js";

// Without this a script in a web page's process could read the key.
api.storage.local.setAccessLevel?.({ accessLevel: "TRUSTED_CONTEXTS" });

api.runtime.onInstalled.addListener(() => ownKey());

// Not setPanelBehavior({openPanelOnActionClick}): only a handled click grants
// activeTab, which is what lets the panel read the page it was pressed on. Both
// calls must come before the first await, or the click no longer counts.
api.action.onClicked.addListener((tab) => {
  const opened = api.sidebarAction ? api.sidebarAction.open() : api.sidePanel.open({ windowId: tab.windowId });
  opened.then(() => api.runtime.sendMessage({ pressed: tab.windowId })).catch(() => {}); // a panel that just opens reads the page itself
});
