/** Gives every page of Electron 25 the polyfills, in its own world and before its scripts, and the preload `webUtils`. */
const electron = require('electron');
const { webFrame } = electron;

electron.webUtils ??= { getPathForFile: (file) => file.path };

void webFrame.executeJavaScript(POLYFILLS);
